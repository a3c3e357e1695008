/** Colours of score plugins side by side; app.css picks them from cividis for each theme. */
export const SERIES = Array.from({ length: 6 }, (_, i) => `var(--series-${i})`);
