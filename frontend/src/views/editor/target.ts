// For which cluster and release a text is written: what the form around it chooses.

export interface Target {
  /** The release's name, "" where the form does not tell. */
  readonly release: () => string;
  /** The choices as the server's check takes them. */
  readonly asked: () => Readonly<Record<string, string>>;
  readonly onChange: (then: () => void) => void;
}

const AUTO = "auto";

export function targetOf(form: HTMLFormElement | null): Target {
  const chosen = (name: string): HTMLSelectElement | null =>
    form?.querySelector<HTMLSelectElement>(`select[name="${name}"]`) ?? null;
  const [release, snapshot] = [chosen("release"), chosen("snapshot")];
  return {
    release: () => {
      if (release?.value !== AUTO) return release?.value ?? "";
      // As the list of clusters says it: "1.37.2 (nodes say v1.37.1)".
      return /^[\d.]*/.exec(snapshot?.options[snapshot.selectedIndex]?.dataset.release ?? "")?.[0] ?? "";
    },
    asked: () => ({
      ...(release ? { release: release.value } : {}),
      ...(snapshot?.value ? { snapshot: snapshot.value } : {}),
    }),
    onChange: (then) => [release, snapshot].forEach((each) => each?.addEventListener("change", then)),
  };
}
