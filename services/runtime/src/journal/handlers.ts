import {
  type CallContext,
  type Caller,
  type DeploymentSource,
  type Handlers,
  type historyRpcs,
  type journalRpcs,
  ServiceError,
} from '@orrery/contracts';
import type { Clock, Semaphore } from '@orrery/service-kit';
import type { Db } from '../database/db.js';
import { isUuid } from '../ids/uuid-v7.js';
import { journalHeads } from './journal-heads.js';
import { journalRange } from './journal-range.js';
import { entryById, toHistoryEntry } from './journal-store.js';
import { listHistory } from './list-history.js';
import { verifyJournal } from './verify/verify-journal.js';

/** A deployment that the caller may see. */
export interface SeenDeployment {
  id: number;
  address: string;
  source: DeploymentSource | null;
  isLLMPublic: boolean;
  isOwner: boolean;
}

export interface JournalDependencies {
  db: Db;
  clock: Pick<Clock, 'monotonic'>;
  /** Resolves path parameters. Throws `deployment_not_found` for what is absent, deleted or not visible. */
  see(params: { worldAddress: string; address: string }, caller: Caller): Promise<SeenDeployment>;
  /** Bounds how many verifications run in this process. */
  verifying: Semaphore;
}

/** The share of the time until the deadline after which a verification answers how far it came. */
const SHARE_OF_TIME = 0.6;

export function historyHandlers({
  db,
  clock,
  see,
  verifying,
}: JournalDependencies): Handlers<typeof historyRpcs> {
  return {
    'history.list': async ({ params, query }, { caller }) =>
      listHistory(db, await see(params, caller), query),

    'history.get': async ({ params }, { caller }) => {
      const deployment = await see(params, caller);
      const withTexts = deployment.isOwner || deployment.isLLMPublic;
      const row = isUuid(params.historyId)
        ? await entryById(db, deployment.id, params.historyId, { withTexts })
        : undefined;
      if (row === undefined) throw new ServiceError('history_entry_not_found');
      return { data: toHistoryEntry(row, deployment.address) };
    },

    'history.verify': async ({ params, query }, { caller, signal, deadline }: CallContext) => {
      const deployment = await see(params, caller);
      const latest = clock.monotonic() + (deadline - clock.monotonic()) * SHARE_OF_TIME;
      const bounds = { signal, isEnough: () => clock.monotonic() >= latest };
      return { data: await verifying.run(signal, () => verifyJournal(db, deployment, query, bounds)) };
    },
  };
}

export const journalHandlers = ({ db }: Pick<JournalDependencies, 'db'>): Handlers<typeof journalRpcs> => ({
  'journal.heads': (request) => journalHeads(db, request),
  'journal.range': (request) => journalRange(db, request),
});
