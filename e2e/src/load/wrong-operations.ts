import type { JsonObject } from '@orrery/contracts';
import type { Operation } from './operation.js';

/** An entry of a journal, as far as it shows an operation. */
export interface OperationEntry {
  readonly deployment: string;
  readonly seq: number;
  readonly id: string;
  readonly kind: string;
  readonly trigger: string | null;
  readonly status: 'succeeded' | 'failed' | null;
  readonly input: JsonObject | null;
  readonly changes: readonly {
    readonly entitySchema: string;
    readonly instanceId: string;
    readonly set?: JsonObject;
  }[];
}

interface Compared {
  readonly operations: readonly Operation[];
  readonly entries: readonly OperationEntry[];
}

/**
 * Invariant 4: what a client saw succeed has succeeded in the journal exactly once, and is the entry that the answer named;
 * what it saw fail never; what it does not know at most once. And nothing succeeded that nobody asked for.
 */
export function wrongOperations({ operations, entries }: Compared): string[] {
  const done = new Map<number, OperationEntry[]>();
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

function wrongOperation(operation: Operation, entries: readonly OperationEntry[]): string[] {
  const { number, kind, outcome, deployment, historyId, seq } = operation;
  const found: string[] = [];
  const expected = { ok: 'once', fail: 'never', unknown: 'at most once' }[outcome];
  const isRight = { ok: entries.length === 1, fail: entries.length === 0, unknown: entries.length <= 1 }[
    outcome
  ];
  if (!isRight) found.push(`was to succeed ${expected}, and did ${entries.length} times`);
  if (entries.some((entry) => entry.deployment !== deployment)) found.push('is in another deployment');
  const [entry] = entries;
  if (entry !== undefined && historyId !== undefined)
    if (entry.id !== historyId || entry.seq !== (seq ?? entry.seq))
      found.push(`was answered with the entry ${historyId}, seq ${seq}`);
  return found.map((what) => `${kind} operation ${number} ${what}: ${tellOf(operation, entries)}`);
}

const tellOf = ({ tries, deployment }: Operation, entries: readonly OperationEntry[]): string =>
  JSON.stringify({
    deployment,
    entries: entries.map(({ seq, id }) => ({ seq, id })),
    tries: tries.map((one) => ({ ...one, at: new Date(one.at).toISOString() })),
  });

/** The operation that has left an entry, where it was one of a client's. */
export function operationOf({ kind, trigger, input, changes }: OperationEntry): number | undefined {
  if (trigger === 'cron') return undefined;
  if (kind === 'execution') {
    const named = /^operation (\d+)$/.exec(String(input?.['name'] ?? ''))?.[1];
    return named === undefined ? wholeOf(input?.['operation']) : Number(named);
  }
  // By hand: the number is the value that was written.
  return kind.startsWith('instance_') ? wholeOf(changes[0]?.set?.['value']) : undefined;
}

const wholeOf = (value: unknown): number | undefined =>
  typeof value === 'number' && value > 0 ? value : undefined;
