import { writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Medians } from './report.js';

const FILE = fileURLToPath(new URL('../../results.md', import.meta.url));

/** A ratio of two medians, or an amount of one, that Orrery is to reach. */
interface Target {
  readonly what: string;
  readonly of: (read: Reader) => number;
  readonly atLeast?: number;
  readonly atMost?: number;
}
type Reader = (run: string, what?: 'perSecond' | 'p50Ms' | 'p99Ms' | 'idleShare') => number;

const ratio = (one: string, other: string, atLeast: number): Target => ({
  what: `${one} ÷ ${other}`,
  of: (read) => read(one) / read(other),
  atLeast,
});

/** What each shape is to reach. */
const targetsOf = (shape: string, [lean, row, spread, key, step]: readonly number[]): Target[] => [
  ratio(`${shape}, spread`, 'pgbench, three statements', lean ?? 0),
  ratio(`${shape}, one instance`, 'pgbench, one row', row ?? 0),
  ratio(`${shape}, spread`, 'Restate, spread', spread ?? 0),
  ratio(`${shape}, one instance`, 'Restate, one key', key ?? 0),
  ratio(`${shape}, spread`, 'DBOS, one step', step ?? 0),
  ratio(`${shape}, spread, many connections`, `${shape}, spread`, 1.2),
  ratio(`${shape}, public`, `${shape}, spread`, 0.8),
  {
    what: `${shape}, spread: p99 ÷ p50`,
    of: (read) => read(`${shape}, spread`, 'p99Ms') / read(`${shape}, spread`, 'p50Ms'),
    atMost: 2.5,
  },
  {
    what: `${shape}, spread: idle share of the processors`,
    of: (read) => read(`${shape}, spread`, 'idleShare'),
    atMost: 0.1,
  },
];

const TARGETS = [
  ...targetsOf('five processes', [1, 5, 5, 18, 10]),
  ...targetsOf('all-in-one', [1.3, 6, 6, 20, 12]),
];

interface Told {
  readonly rounds: number;
  readonly seconds: number;
  /** What could not be measured, and why. */
  readonly leftOut: readonly string[];
  readonly write: (line: string) => void;
}

/** Writes the page of results, and says which targets were reached. A target whose run is missing is left out. */
export async function writeResults(
  medians: readonly Medians[],
  { rounds, seconds, leftOut, write }: Told,
): Promise<void> {
  const read: Reader = (run, what = 'perSecond') =>
    medians.find(({ name }) => name === run)?.[what] ?? Number.NaN;
  const verdicts: Verdict[] = TARGETS.map((target) => ({ ...target, value: target.of(read) })).filter(
    ({ value }) => !Number.isNaN(value),
  );
  const page = [
    '# Results of `npm run bench`',
    '',
    `${new Date().toISOString().slice(0, 10)}, ${machine()}. Medians of ${rounds} rounds of ${seconds} s, measured in turns.`,
    ...(leftOut.length === 0 ? [] : ['', `Left out: ${leftOut.join('; ')}.`]),
    '',
    '| run | per second | p50 · p99 ms | idle | µs of processor for one |',
    '| --- | --- | --- | --- | --- |',
    ...medians.map(rowOf),
    '',
    ...VERDICTS_HEAD,
    ...verdicts.map(verdictRow),
    '',
  ];
  await writeFile(FILE, page.join('\n'));
  write(`\n${page.slice(verdicts.length * -1 - 3).join('\n')}`);
}

/** What was measured on. */
export const machine = () =>
  `Node ${process.version}, ${availableParallelism()} × ${cpus()[0]?.model}, ${Math.round(totalmem() / 2 ** 30)} GB`;

function rowOf({ name, perSecond, least, most, p50Ms, p99Ms, idleShare, microseconds }: Medians): string {
  const rate = `${Math.round(perSecond)} (${Math.round(least)}–${Math.round(most)})`;
  const latency = Number.isNaN(p50Ms) ? '' : `${p50Ms.toFixed(1)} · ${p99Ms.toFixed(1)}`;
  const programs = microseconds.map(([program, median]) => `${program} ${Math.round(median)}`).join(', ');
  return `| ${name} | ${rate} | ${latency} | ${Math.round(idleShare * 100)} % | ${programs} |`;
}

/** A figure and its bound, one of the two. */
export interface Verdict extends Pick<Target, 'what' | 'atLeast' | 'atMost'> {
  readonly value: number;
}

export const isReached = ({ value, atLeast, atMost = 0 }: Verdict): boolean =>
  atLeast === undefined ? value <= atMost : value >= atLeast;

/** Of a table of verdicts. */
export const VERDICTS_HEAD = ['| target | reached | asked for | |', '| --- | --- | --- | --- |'];

export function verdictRow(verdict: Verdict): string {
  const { what, value, atLeast, atMost } = verdict;
  const asked = atLeast === undefined ? `≤ ${atMost}` : `≥ ${atLeast}`;
  return `| ${what} | ${value.toFixed(2)} | ${asked} | ${isReached(verdict) ? 'reached' : 'missed'} |`;
}
