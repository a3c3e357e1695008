// What may stand where: the schemas that are made when kviz is built (kviz/editor_schema).

export interface Field {
  readonly type: "string" | "integer" | "number" | "boolean" | "object" | "any";
  /** The type of the object's fields; of the items of a list or map. */
  readonly of?: string;
  readonly list?: boolean;
  readonly map?: boolean;
  readonly values?: readonly string[];
  readonly default?: string;
  readonly doc?: string;
  /** The releases that have the field; without them all do. */
  readonly releases?: readonly string[];
}

export type Fields = Readonly<Record<string, Field>>;

export interface Schema {
  /** The type of a document by its kind; "" is that of a document of any kind. */
  readonly roots: Readonly<Record<string, string>>;
  readonly types: Readonly<Record<string, Fields>>;
}

/** What a mapping says of itself, on which the types of its fields may depend. */
export interface About {
  readonly kind: string;
  readonly name: string;
}

/** A key on the way into a document, in a mapping. */
export interface Step extends About {
  readonly key: string;
}

const NONE: Fields = {};

/** The type of an object whose own `kind` says what it is. */
const ANY_KIND = "*";

/** The fields that may stand in a mapping that the steps lead to. */
export function fieldsAt(schema: Schema, steps: readonly Step[], here: About): Fields {
  const mappings: readonly About[] = [...steps, here];
  let fields = rootFields(schema, mappings[0]?.kind ?? "");
  for (let i = 0; i < steps.length; i++) {
    const step = steps[i];
    const field = step && fieldOf(fields, step);
    if (!field) return NONE;
    // The keys of a map are anybody's; what is behind one has the map's type.
    if (field.map && ++i >= steps.length) return NONE;
    fields = fieldsOf(schema, field, mappings[i + 1]?.kind ?? "");
  }
  return fields;
}

/** The field that a key is, in the mapping that the steps lead to. */
export const fieldAt = (schema: Schema, steps: readonly Step[], key: string, here: About): Field | null =>
  fieldOf(fieldsAt(schema, steps, here), { key, ...here }) ?? null;

/** Whether a release has the field; one that is not known may. */
export const isIn = ({ releases }: Field, release: string): boolean =>
  !release || !releases || releases.includes(release);

const fieldsOf = (schema: Schema, field: Field, kind: string): Fields =>
  field.of === ANY_KIND ? objectFields(schema, kind) : (schema.types[field.of ?? ""] ?? NONE);

/** A field may depend on the `name` beside it: the arguments of a plugin do. */
const fieldOf = (fields: Fields, { key, name }: Step): Field | undefined => fields[`${key}@${name}`] ?? fields[key];

function rootFields(schema: Schema, kind: string): Fields {
  const whole = schema.types[schema.roots[""] ?? ""];
  return whole ?? objectFields(schema, kind);
}

/** Of an object whose kind is not known yet: what every kind has. */
function objectFields(schema: Schema, kind: string): Fields {
  const known = kind ? schema.types[schema.roots[kind] ?? ""] : undefined;
  if (known) return known;
  const kinds = Object.keys(schema.roots).filter(Boolean);
  const versions = new Set(kinds.flatMap((kind) => schema.types[schema.roots[kind] ?? ""]?.apiVersion?.values ?? []));
  return {
    apiVersion: { type: "string", values: [...versions] },
    kind: { type: "string", values: kinds },
    metadata: { type: "object", of: "V1ObjectMeta" },
  };
}
