import { watchMachine } from './machine.js';

/** What a load got done. */
export interface Rate {
  readonly perSecond: number;
  /** How many in all. */
  readonly count: number;
  /** From a request to its answer, where the load's tool tells it. */
  readonly p50Ms?: number;
  readonly p99Ms?: number;
}

/** What is measured again and again. */
export interface Run {
  readonly name: string;
  /** What comes before it and is not measured. */
  readonly prepare?: () => Promise<unknown>;
  readonly measure: () => Promise<Rate>;
}

/** Medians over the rounds of a run. */
export interface Medians extends Required<Omit<Rate, 'count'>> {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  readonly idleShare: number;
  /** Processor time by program for one of what is counted, in microseconds; the largest first. */
  readonly microseconds: readonly (readonly [program: string, median: number])[];
}

export interface Turns {
  readonly rounds: number;
  /** Before each measurement: nothing that the one before it left may slow it down. Answers what a reader should know. */
  readonly rest?: () => Promise<string>;
  readonly write: (line: string) => void;
}

interface Measured extends Rate {
  readonly idleShare: number;
  readonly microseconds: Readonly<Record<string, number>>;
}

/** Measures all in turns, and tells medians, the spread of the rounds, and the ratio to the first. */
export async function measureInTurns(
  runs: readonly Run[],
  { rounds, rest, write }: Turns,
): Promise<readonly Medians[]> {
  const values = runs.map((): Measured[] => []);
  await rest?.();
  for (let round = 1; round <= rounds; round += 1) {
    for (const [index, { name, prepare, measure }] of runs.entries()) {
      await prepare?.();
      const value = await measured(measure);
      values[index]?.push(value);
      write(`round ${round}  ${name}: ${Math.round(value.perSecond)}/s${(await rest?.()) ?? ''}`);
    }
  }
  const medians = runs.map(({ name }, index) => mediansOf(name, values[index] ?? []));
  write('\nmedians');
  for (const one of medians) write(lineOf(one, medians[0]?.perSecond ?? Number.NaN));
  return medians;
}

async function measured(measure: Run['measure']): Promise<Measured> {
  const used = watchMachine();
  const rate = await measure();
  const { idleShare, seconds } = used();
  const microseconds = Object.entries(seconds).map(([program, taken]) => [
    program,
    (taken / rate.count) * 1e6,
  ]);
  return { ...rate, idleShare, microseconds: Object.fromEntries(microseconds) };
}

/** Programs that take less than this, in microseconds, are not told. */
const WORTH_TELLING = 3;

function mediansOf(name: string, values: readonly Measured[]): Medians {
  const of = (read: (one: Measured) => number) => quantile(values.map(read), 0.5);
  const rates = values.map(({ perSecond }) => perSecond);
  const programs = [...new Set(values.flatMap(({ microseconds }) => Object.keys(microseconds)))];
  return {
    name,
    perSecond: of(({ perSecond }) => perSecond),
    least: Math.min(...rates),
    most: Math.max(...rates),
    p50Ms: of(({ p50Ms = Number.NaN }) => p50Ms),
    p99Ms: of(({ p99Ms = Number.NaN }) => p99Ms),
    idleShare: of((one) => one.idleShare),
    microseconds: programs
      .map((program) => [program, of(({ microseconds }) => microseconds[program] ?? 0)] as const)
      .filter(([, median]) => median >= WORTH_TELLING)
      .sort(([, one], [, other]) => other - one),
  };
}

function lineOf({ name, perSecond, least, most, p50Ms, p99Ms }: Medians, base: number): string {
  const range = `${Math.round(least)}–${Math.round(most)}`;
  const latency = Number.isNaN(p99Ms) ? '' : `  p50 · p99 ${p50Ms.toFixed(1)} · ${p99Ms.toFixed(1)} ms`;
  return `${name.padEnd(42)} ${String(Math.round(perSecond)).padStart(6)}/s  (${range})  × ${(perSecond / base).toFixed(2)}${latency}`;
}

/** Of values in any order. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
