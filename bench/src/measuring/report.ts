/** What is measured again and again: an amount per second. */
export interface Run {
  readonly name: string;
  readonly measure: () => Promise<number>;
}

export interface Turns {
  readonly rounds: number;
  /** Before each measurement: nothing that the one before it left may slow it down. Answers what a reader should know. */
  readonly rest?: () => Promise<string>;
  readonly write: (line: string) => void;
}

/** Measures all in turns, and tells medians, the spread of the rounds, and the ratio to the first. */
export async function measureInTurns(runs: readonly Run[], { rounds, rest, write }: Turns): Promise<void> {
  const values = runs.map((): number[] => []);
  await rest?.();
  for (let round = 1; round <= rounds; round += 1) {
    for (const [index, { name, measure }] of runs.entries()) {
      const value = await measure();
      values[index]?.push(value);
      write(`round ${round}  ${name}: ${Math.round(value)}/s${(await rest?.()) ?? ''}`);
    }
  }
  const base = medianOf(values[0] ?? []);
  write('\nmedians');
  for (const [index, { name }] of runs.entries()) write(lineOf(name, values[index] ?? [], base));
}

function lineOf(name: string, values: readonly number[], base: number): string {
  const median = medianOf(values);
  const range = `${Math.round(Math.min(...values))}–${Math.round(Math.max(...values))}`;
  return `${name.padEnd(42)} ${String(Math.round(median)).padStart(6)}/s  (${range})  × ${(median / base).toFixed(2)}`;
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
}

/** Of values in any order. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
