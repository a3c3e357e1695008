// What `texts.ts`, beside the sources, makes of the glossary.

declare module "*/glossary.yaml" {
  const source: { readonly terms: Readonly<Record<string, unknown>> };
  export default source;
}
