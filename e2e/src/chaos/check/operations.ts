import type { Operation } from '../load/operation.js';
import type { Evidence, JournalRow } from './evidence.js';

/**
 * Invariant 4: what a client saw succeed has succeeded in the journal exactly once, and is the entry that the answer named;
 * what it saw fail never; what it does not know at most once. And nothing succeeded that nobody asked for.
 */
export function wrongOperations({ operations, entries }: Pick<Evidence, 'operations' | 'entries'>): string[] {
  const done = new Map<number, JournalRow[]>();
  for (const entry of entries) {
    const number = entry.status === 'failed' ? undefined : operationOf(entry);
    if (number !== undefined) done.set(number, [...(done.get(number) ?? []), entry]);
  }
  const known = new Set(operations.map(({ number }) => number));
  const unasked = [...done.keys()].filter((number) => !known.has(number));
  return [
    ...operations.flatMap((one) => wrongOperation(one, done.get(one.number) ?? [])),
    ...unasked.map((number) => `operation ${number} is in the journal, and nobody asked for it`),
  ];
}

function wrongOperation(operation: Operation, entries: readonly JournalRow[]): string[] {
  const { number, kind, outcome, deployment, historyId } = operation;
  const found: string[] = [];
  const expected = { ok: 'once', fail: 'never', unknown: 'at most once' }[outcome];
  const isRight = { ok: entries.length === 1, fail: entries.length === 0, unknown: entries.length <= 1 }[
    outcome
  ];
  if (!isRight) found.push(`was to succeed ${expected}, and did ${entries.length} times`);
  if (entries.some((entry) => entry.deployment !== deployment)) found.push('is in another deployment');
  if (historyId !== undefined && entries[0] !== undefined && entries[0].id !== historyId)
    found.push(`was answered with the entry ${historyId}`);
  return found.map((what) => `${kind} operation ${number} ${what}: ${tellOf(operation, entries)}`);
}

const tellOf = ({ attempts, deployment }: Operation, entries: readonly JournalRow[]): string =>
  JSON.stringify({
    deployment,
    entries: entries.map(({ seq, id }) => ({ seq, id })),
    attempts: attempts.map((one) => ({ ...one, at: new Date(one.at).toISOString() })),
  });

/** The operation that has left an entry, where it was one of a client's. */
export function operationOf({ kind, trigger, input, changes }: JournalRow): number | undefined {
  if (trigger === 'cron') return undefined;
  if (kind === 'execution') {
    const named = /^operation (\d+)$/.exec(String(input['name'] ?? ''))?.[1];
    return named === undefined ? wholeOf(input['operation']) : Number(named);
  }
  // By hand: the number is the value that was written.
  return kind.startsWith('instance_') ? wholeOf(changes[0]?.set?.['value']) : undefined;
}

const wholeOf = (value: unknown): number | undefined =>
  typeof value === 'number' && value > 0 ? value : undefined;
