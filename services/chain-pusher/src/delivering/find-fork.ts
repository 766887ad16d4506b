import type { JournalFact } from '@orrery/contracts';
import { standingEntries } from '../core/webhooks/standing-entries.js';
import type { Db } from '../store/tables/schema.js';
import type { ClaimedWebhook } from '../store/webhooks/claimed-webhooks.js';
import { firstNotTaken, takenEntries } from '../store/webhooks/delivery-store.js';
import type { Journals, Next, Position } from './read-journals.js';

/** Where a webhook goes on whose journal does not have the entry of its position any more. */
export interface Fork {
  readonly is: 'fork';
  /** What follows it is sent. */
  readonly position: Position;
  readonly head: number;
  /** The number from which on entries are lost; null where the next entry is a `tail_lost`, which tells the receiver. */
  readonly lostFrom: number | null;
}

interface ForkDependencies {
  readonly db: Db;
  readonly journals: Pick<Journals, 'factAt' | 'tailsLost'>;
}

type Lost = Pick<ClaimedWebhook, 'id' | 'deployment' | 'seq'>;

/**
 * What comes after a loss, after which nothing that is new may be missed: the first `tail_lost` after the last entry that the
 * receiver has taken and the journal still has, or where there is none, as after a restore, what follows that entry. `end`: the
 * runtime writes a `tail_lost` when it next commits to the journal, if it knows of the loss.
 */
export async function findFork(
  dependencies: ForkDependencies,
  webhook: Lost,
  head: number,
): Promise<Fork | Extract<Next, { is: 'end' }>> {
  const taken = standingEntries(await takenEntries(dependencies.db, webhook.id));
  const factAt = (seq: number) => dependencies.journals.factAt(webhook.deployment, seq);
  const still = await lengthWhile(taken.length, async (index) => {
    const one = taken[index];
    return one !== undefined && (await factAt(one.seq))?.id === one.historyId;
  });
  const last = taken[still - 1];
  const told = await firstTold(dependencies, webhook, last?.seq ?? 0, head);
  if (told !== undefined)
    return { is: 'fork', position: { seq: told.seq - 1, hash: told.prevHash }, head, lostFrom: null };
  if (last !== undefined && head <= last.seq) return { is: 'end' };
  const until = Math.min(head, webhook.seq);
  const [oldest] = taken;
  if (oldest === undefined) return afterAll(dependencies, webhook, until, head);
  const lostFrom = Math.max(1, last?.seq ?? Math.min(until, oldest.seq - 1));
  // That entry comes again: receivers may skip its number, as that of a `tail_lost`, or undo it.
  const position = { seq: lostFrom - 1, hash: (await factAt(lostFrom))?.prevHash ?? null };
  return { is: 'fork', position, head, lostFrom };
}

/** Where no delivery is kept: after the last entry that is older than all that could have been missed. */
async function afterAll(
  { db, journals }: ForkDependencies,
  { id, deployment }: Lost,
  until: number,
  head: number,
): Promise<Fork> {
  const since = await firstNotTaken(db, id);
  const isOlder = async (index: number) => {
    const fact = await journals.factAt(deployment, index + 1);
    return fact !== undefined && Date.parse(fact.executedAt) < since;
  };
  const seq = await lengthWhile(until, isOlder);
  const position = { seq, hash: (seq > 0 && (await journals.factAt(deployment, seq))?.hash) || null };
  return { is: 'fork', position, head, lostFrom: Math.max(1, seq) };
}

/** The first `tail_lost` after an entry that says that the journal had the position. */
async function firstTold(
  { journals }: ForkDependencies,
  { deployment, seq }: Lost,
  after: number,
  head: number,
): Promise<JournalFact | undefined> {
  for (const tail of await journals.tailsLost(deployment)) {
    if (tail <= after || tail > Math.min(head, seq)) continue;
    const fact = await journals.factAt(deployment, tail);
    const lost = fact?.input['seq'];
    if (fact?.kind === 'tail_lost' && typeof lost === 'number' && lost >= seq) return fact;
  }
  return undefined;
}

/** How many of so many pass a test that none passes after one that does not. */
async function lengthWhile(count: number, passes: (index: number) => Promise<boolean>): Promise<number> {
  let [from, to] = [0, count];
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    if (await passes(middle)) from = middle + 1;
    else to = middle;
  }
  return from;
}
