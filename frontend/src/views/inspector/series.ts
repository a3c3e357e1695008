/** Colours of score plugins side by side: steps of cividis, told apart by brightness as well. */
export const SERIES = [
  "var(--k-score-1)", "var(--k-score-4)", "var(--k-score-7)", "var(--k-score-2)",
  "var(--k-score-5)", "var(--k-score-8)", "var(--k-score-3)", "var(--k-score-6)", "var(--k-score-9)",
];
