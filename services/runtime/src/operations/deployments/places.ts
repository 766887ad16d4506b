import { type AccountState, accountState, defineMessage } from '@orrery/contracts';
import { type PollLoop, startPollLoop } from '@orrery/service-kit';
import { accountPauses, storeAccount } from '../../store/deployments/account-store.js';
import { comparePlaces } from '../../store/leases/places.js';
import { copyAccountWide, forgetPayments } from '../../store/runs/account-wide.js';
import type { RuntimeContext } from '../context.js';
import { applyPauses } from './pauses.js';

/** Broadcast among runtimes of several databases: one of them has heard of an account. Who missed it compares once a minute. */
const accountHeard = defineMessage('runtime', 'account-heard', accountState);

/** Each state comes to one process, which stores it and tells those of other databases. */
export async function storeInAll({ db, bus, homes }: RuntimeContext, state: AccountState): Promise<void> {
  await storeAccount(db, state);
  if (!homes.isOnly()) await bus.broadcast(accountHeard, state);
}

/** Stores what processes of other databases have heard of accounts. */
export function followOtherHomes(context: RuntimeContext, signal: AbortSignal): Promise<void> {
  const { db, bus, logger } = context;
  const store = async (state: AccountState) => {
    await storeAccount(db, state);
    await applyPauses(context, accountPauses(db), signal);
  };
  const failed = (error: unknown) => logger.info({ err: error }, 'the state of an account was not stored');
  return bus.listen(accountHeard, (state) => void store(state).catch(failed), signal);
}

const COMPARE_MS = 5000;

/** Lets the directory agree with this database, where there are several: places, payments, what models have cost. */
export function startComparingPlaces({ db, homes, clock, logger }: RuntimeContext): PollLoop {
  let after = 0;
  return startPollLoop({
    name: 'places of deployments',
    intervalMs: COMPARE_MS,
    clock,
    logger,
    runOnce: async () => {
      if (homes.isOnly()) return 'idle';
      await copyAccountWide(db, homes.directory);
      await forgetPayments(homes.directory);
      const next = await comparePlaces(db, homes.directory, homes.partitionsOf(homes.id), after);
      after = next ?? 0;
      return next === undefined ? 'idle' : 'more';
    },
  });
}
