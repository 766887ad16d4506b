/** What is looked at: so many steps of so many seconds, up to now. */
export const SPANS = {
  hour: { step: 60, steps: 60 },
  day: { step: 1800, steps: 48 },
  month: { step: 86_400, steps: 30 },
} as const;
export type Span = keyof typeof SPANS;
export const SPAN_NAMES = Object.keys(SPANS) as Span[];

/** The beginning of each step, in seconds since 1970; the last one holds `now`. */
export function stepsOf(span: Span, now: number): number[] {
  const { step, steps } = SPANS[span];
  const last = Math.floor(now / 1000 / step) * step;
  return Array.from({ length: steps }, (_, at) => last - (steps - 1 - at) * step);
}
