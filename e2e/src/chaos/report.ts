import type { Operation } from '../load/operation.js';
import type { Violation } from './check/find-all.js';
import type { PlayedFault } from './faults/play-plan.js';
import type { InternalAnswer } from './load/chaos-client.js';

/** What a run has shown. */
export interface ChaosReport {
  readonly seed: number;
  /** Kind and outcome → how many operations. */
  readonly operations: Readonly<Record<string, number>>;
  /** Kind → how many faults. */
  readonly faults: Readonly<Record<string, number>>;
  /** What was answered beside success: status and code → how often. */
  readonly answers: Readonly<Record<string, number>>;
  /** Status and trigger of entries → how many, cron among them. */
  readonly entries: Readonly<Record<string, number>>;
  /** Every answer of status 500, with what the processes wrote about its request. */
  readonly internal: readonly (InternalAnswer & { readonly lines: readonly string[] })[];
  readonly violations: readonly Violation[];
  /** Every fault, in the order in which they ended. */
  readonly played: readonly PlayedFault[];
}

/** A run may go wrong only in what the report calls violations and internal errors. */
export const isSound = ({ violations, internal }: ChaosReport): boolean =>
  violations.length + internal.length === 0;

export const countAnswers = (operations: readonly Operation[]): Record<string, number> =>
  countNames(
    operations
      .flatMap(({ tries }) => tries)
      .filter(({ outcome }) => outcome !== 'ok')
      .map(({ status, code, outcome }) => `${status} ${code} (${outcome})`),
  );

export function countNames(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

/** Faults that are told with violations: those before them. */
const TOLD_FAULTS = 40;
/** Answers of 500 that are told with the lines of the logs about them. */
const TOLD_CAUSES = 20;

/** The report as lines for a reader. */
export function linesOf(report: ChaosReport): string[] {
  const { seed, operations, faults, answers, entries, internal, violations, played } = report;
  const rows = (counts: Readonly<Record<string, number>>) =>
    Object.entries(counts).map(([name, count]) => `  ${name.padEnd(32)} ${count}`);
  const told = played
    .slice(-TOLD_FAULTS)
    .map(({ began, ended, kind, target }) => `  ${seconds(began)} to ${seconds(ended)}  ${kind}: ${target}`);
  return [
    'Operations',
    ...rows(operations),
    'Answers without success',
    ...rows(answers),
    'Entries',
    ...rows(entries),
    'Faults',
    ...rows(faults),
    ...(isSound(report) ? [] : ['The last faults', ...told]),
    `Answers of 500: ${internal.length}`,
    ...internal.flatMap(({ request, requestId, body, lines }, index) => [
      `  ${request} ${requestId} ${JSON.stringify(body)}`,
      ...(index < TOLD_CAUSES ? lines.map((line) => `    ${line}`) : []),
    ]),
    `Violations: ${violations.length}`,
    ...violations.map(({ invariant, what }) => `  ${invariant}: ${what}`),
    `Seed ${seed}: ${isSound(report) ? 'every promise held' : 'PROMISES WERE BROKEN'}`,
  ];
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`.padStart(9);
