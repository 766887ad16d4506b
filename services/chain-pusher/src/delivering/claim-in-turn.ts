import type { Clock } from '@orrery/service-kit';
import type { Db } from '../store/tables/schema.js';
import {
  type ClaimBounds,
  type ClaimedWebhook,
  claimWebhooks,
  databaseTime,
} from '../store/webhooks/claimed-webhooks.js';

/** What a claim has passed over: all that was due before `from` is of these accounts, or is not to be claimed. */
interface Passed {
  readonly crowded: ClaimBounds['crowded'];
  from: Date;
  /** Then all is looked at again: some may be free, such as what a process that is gone had claimed. */
  readonly until: number;
}

const LOOK_AGAIN_MS = 5000;
/** What has become due is visible after so many milliseconds at most, but for statements that wait for a lock. */
const VISIBLE_MS = 1000;

/**
 * Claims those that have waited longest. What accounts wait with that have their share may be any number, and comes before all
 * others: it is passed over once in a while and not in each claim, of which there is one for each attempt that ends.
 */
export function claimInTurn(clock: Pick<Clock, 'monotonic'>) {
  const passed = new Map<boolean, Passed>();
  return async (db: Db, isSlow: boolean, bounds: ClaimBounds): Promise<ClaimedWebhook[]> => {
    const { most, crowded } = bounds;
    if (crowded.length === 0) return claimWebhooks(db, isSlow, bounds);
    const now = clock.monotonic();
    const found = passed.get(isSlow);
    const known = found && now < found.until && isWithin(found.crowded, crowded) ? found : undefined;
    const beforehand = await databaseTime(db);
    const claimed = await claimWebhooks(db, isSlow, bounds, known?.from);
    const until =
      claimed.length < most ? beforehand : Math.min(...claimed.map(({ due_at }) => due_at.getTime()));
    const from = new Date(until - VISIBLE_MS);
    if (known === undefined) passed.set(isSlow, { crowded, from, until: now + LOOK_AGAIN_MS });
    else if (known.crowded.length === crowded.length) known.from = from;
    return claimed;
  };
}

const isWithin = (some: ClaimBounds['crowded'], all: ClaimBounds['crowded']): boolean =>
  some.every((one) => all.includes(one));
