import { canonicalHash } from '@orrery/contracts';
import type { StoredEntry } from './stored-rows.js';

interface SetTimer {
  readonly id: string;
  readonly event: string;
  readonly dueAt: string;
  readonly key: string | null;
  readonly inputHash: string;
}

/** What an entry was set by: of a copy that a clone was made with, its first entry tells no more than the hash of all. */
const causeOf = ({ seq, index }: { readonly seq: number; readonly index: number }): string =>
  `${seq}/${index}`;

/**
 * Invariant 23: each timer is executed by one entry, cancelled, replaced or pending, and none is early. `stored` are the
 * ids of those that are in the table.
 */
export function wrongTimers(entries: readonly StoredEntry[], stored: readonly string[]): string[] {
  const pending = new Map<string, SetTimer>();
  const found: string[] = [];
  const copied = entries[0]?.input['timers'] !== undefined;
  const removeWith = (has: (timer: SetTimer) => boolean) => {
    for (const [cause, timer] of pending) if (has(timer)) pending.delete(cause);
  };
  for (const entry of entries) {
    if (entry.cause !== undefined && !(copied && entry.cause.seq === 1))
      found.push(...wrongExecution(entry, pending.get(causeOf(entry.cause))));
    if (entry.cause !== undefined) pending.delete(causeOf(entry.cause));
    if (entry.trigger === 'timer' && entry.cause === undefined)
      found.push(`entry ${entry.seq} was executed by a timer and names no cause`);
    if (entry.kind === 'timer_cancelled') removeWith(({ id }) => id === entry.input['timerId']);
    if (entry.kind === 'deleted') pending.clear();
    for (const [index, timer] of (entry.timers ?? []).entries()) {
      if (timer.key !== null) removeWith(({ key }) => key === timer.key);
      if (timer.event !== null) pending.set(causeOf({ seq: entry.seq, index }), timer as SetTimer);
    }
  }
  if (copied) return found;
  const expected = new Set([...pending.values()].map(({ id }) => id));
  const lost = [...expected].filter((id) => !stored.includes(id));
  const strange = stored.filter((id) => !expected.has(id));
  return [
    ...found,
    ...lost.map((id) => `timer ${id} was neither executed nor cancelled, and is not pending`),
    ...strange.map((id) => `timer ${id} is pending although the journal says that it is not`),
  ];
}

function wrongExecution(entry: StoredEntry, timer: SetTimer | undefined): string[] {
  if (timer === undefined)
    return [`entry ${entry.seq} executes a timer that is not pending: ${JSON.stringify(entry.cause)}`];
  const isSame = entry.event === timer.event && canonicalHash(entry.input) === timer.inputHash;
  return [
    ...(isSame ? [] : [`entry ${entry.seq} executes something else than the timer ${timer.id}`]),
    ...(entry.executedAt < timer.dueAt ? [`entry ${entry.seq} executes the timer ${timer.id} early`] : []),
  ];
}
