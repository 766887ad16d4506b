import { type AccountState, accountState, defineMessage } from '@orrery/contracts';
import { type PollLoop, startPollLoop } from '@orrery/service-kit';
import { accountPauses, storeAccounts } from '../../store/deployments/account-store.js';
import { comparePlaces, directoryTime, noteCompared } from '../../store/leases/compare-places.js';
import { forgetCreations } from '../../store/leases/creations.js';
import { copyAccountWide, forgetPayments } from '../../store/runs/account-wide.js';
import type { RuntimeContext } from '../context.js';
import { applyPauses } from './pauses.js';

/**
 * Broadcast among runtimes of several databases: one of them was told of an account, as each published state comes to one
 * process. Who missed it compares once a minute.
 */
export const accountHeard = defineMessage('runtime', 'account-heard', accountState);

/** Tells processes of other databases what this one was told. */
export async function tellOtherHomes({ bus, homes }: RuntimeContext, state: AccountState): Promise<void> {
  if (!homes.isOnly()) await bus.broadcast(accountHeard, state);
}

/** Stores what processes of other databases have heard of accounts. */
export function followOtherHomes(context: RuntimeContext, signal: AbortSignal): Promise<void> {
  const { db, bus, logger } = context;
  const store = async (state: AccountState) => {
    await storeAccounts(db, [state]);
    await applyPauses(context, accountPauses(db), signal);
  };
  const failed = (error: unknown) => logger.info({ err: error }, 'the state of an account was not stored');
  return bus.listen(accountHeard, (state) => void store(state).catch(failed), signal);
}

/** A page of places is compared so often, in milliseconds. */
const PAGE_MS = 5000;
/**
 * All that a database has is compared once in this time, in milliseconds, or as soon as its pages allow; until it has been
 * compared for the first time, page after page, and again soon.
 */
const PASS_MS = 60_000;
const FIRST_PASS_MS = 2000;

/** Lets the directory agree with this database, where there are several: places, payments, what models have cost. */
export function startComparingPlaces({
  db,
  homes,
  clock,
  logger,
}: Pick<RuntimeContext, 'db' | 'homes' | 'clock' | 'logger'>): PollLoop {
  let after = 0;
  let nextPass = Number.NEGATIVE_INFINITY;
  /** When the first pass began; undefined during later ones. */
  let begunAt: Date | undefined;
  const compareRest = async () => {
    // The next comparison copies again, and nothing else waits for it.
    await copyAccountWide(db, homes.directory).catch((err: unknown) =>
      logger.error({ err }, 'payments and costs of models were not copied to the directory'),
    );
    await forgetPayments(homes.directory);
    await forgetCreations(homes.directory);
  };
  return startPollLoop({
    name: 'places of deployments',
    intervalMs: PAGE_MS,
    clock,
    logger,
    runOnce: async () => {
      if (homes.isOnly() || (after === 0 && clock.monotonic() < nextPass)) return 'idle';
      const { directory, id } = homes;
      const isFirst = !homes.isCompared();
      if (after === 0) {
        nextPass = clock.monotonic() + (isFirst ? FIRST_PASS_MS : PASS_MS);
        begunAt = isFirst ? await directoryTime(directory) : undefined;
        await compareRest();
      }
      after = (await comparePlaces(db, directory, homes.partitionsOf(id), after)) ?? 0;
      if (after === 0 && begunAt !== undefined) await noteCompared(directory, id, begunAt);
      return isFirst && after > 0 ? 'more' : 'idle';
    },
  });
}
