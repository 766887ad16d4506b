export interface Measurement {
  readonly name: string;
  /** Per second, one for each round. */
  readonly values: number[];
}

/** Medians, the spread of the rounds, and the ratio to the first measurement. */
export function reportOf(measurements: readonly Measurement[]): string {
  const base = medianOf(measurements[0]?.values ?? []);
  const lines = measurements.map(({ name, values }) => {
    const median = medianOf(values);
    const range = `${Math.round(Math.min(...values))}–${Math.round(Math.max(...values))}`;
    return `${name.padEnd(42)} ${String(Math.round(median)).padStart(6)}/s  (${range})  × ${(median / base).toFixed(2)}`;
  });
  return ['medians', ...lines].join('\n');
}

function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
}
