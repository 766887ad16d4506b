import { serviceCall } from '@orrery/bus';
import {
  accountOf,
  asAnyoneSees,
  type CallContext,
  chainContract,
  type Handlers,
  type HistoryEntry,
  type historyRpcs,
  isUnsettled,
  type journalRpcs,
  type keptDefinitionRpcs,
  type lifecycleRpcs,
  type publishedRpcs,
  ServiceError,
} from '@orrery/contracts';
import { isUuid } from '@orrery/deciding';
import type { SeenDeployment } from '../../store/deployments/deployment-directory.js';
import { computedTo } from '../../store/deployments/past-instances.js';
import { findDefinition } from '../../store/journal/definitions.js';
import { createExecutedVersions } from '../../store/journal/executed-versions.js';
import { listHistory } from '../../store/journal/history.js';
import {
  entryById,
  headOf,
  journalHeads,
  journalRange,
  toHistoryEntry,
} from '../../store/journal/journal-store.js';
import { lifecycleHeadOf, readLifecycle } from '../../store/journal/lifecycle.js';
import { createDecisionCheck, type DecidedSource } from '../../store/journal/verify/verify-decisions.js';
import { boundsFromNow, verifyJournal } from '../../store/journal/verify/verify-journal.js';
import { partitionOf } from '../../store/leases/leases.js';
import { isPaused } from '../../store/state/deployment-state.js';
import type { RuntimeContext } from '../context.js';
import { withoutUnpaidTexts } from './unpaid-texts.js';

/** `access.see` throws `deployment_not_found` for what is absent, deleted or not visible. */
export function historyHandlers({
  db,
  clock,
  access,
  directory,
  homes,
  verifying,
  reading,
  computeLifetimes,
  randomnessKeys,
  beacons,
}: Pick<
  RuntimeContext,
  | 'db'
  | 'clock'
  | 'access'
  | 'directory'
  | 'homes'
  | 'verifying'
  | 'reading'
  | 'computeLifetimes'
  | 'randomnessKeys'
  | 'beacons'
>): Handlers<typeof historyRpcs> {
  /** That of a what-if fork may be deleted, and its journal is there; or live in another database, also if it is remembered. */
  const sourceAt = async (address: string): Promise<DecidedSource> => {
    const found = await directory.byAddress(address);
    const isHere = found !== undefined && (await homes.isHere(partitionOf(found.id)));
    return { id: isHere ? found.id : 0, address, isHere };
  };
  /** Up to the entry that is the last now: what was there before each has to be known. */
  const decisionCheck = async (deployment: SeenDeployment, signal: AbortSignal) => {
    const { seq } = await headOf(db, deployment.id);
    await computedTo({ db, computeLifetimes, reading }, deployment.id, seq, signal);
    const source = deployment.source ? await sourceAt(deployment.source.address) : undefined;
    const known = { keys: randomnessKeys, beacon: () => beacons.chain().catch(() => undefined) };
    return (trx: typeof db) => createDecisionCheck(trx, { ...deployment, source }, seq, known, signal);
  };
  return {
    'history.list': async ({ params, query }, { caller }) =>
      listHistory(db, await access.see(params, caller), query),

    'history.get': async ({ params }, { caller }) => {
      const deployment = await access.see(params, caller);
      const withTexts = deployment.isOwner || deployment.isLLMPublic;
      const withCode = deployment.isOwner || deployment.isCodePublic;
      const row = isUuid(params.historyId)
        ? await entryById(db, deployment.id, params.historyId, { withTexts, withCode })
        : undefined;
      if (row === undefined) throw new ServiceError('history_entry_not_found');
      const entry = toHistoryEntry(row, deployment.address);
      return { data: deployment.isOwner ? entry : withoutUnpaidTexts(entry) };
    },

    'history.verify': async ({ params, query }, call: CallContext) => {
      const { caller, signal } = call;
      const deployment = await access.see(params, caller);
      const { decisions, ...range } = query;
      const check = decisions && (await decisionCheck(deployment, signal));
      const who = String(accountOf(caller) ?? 'strangers');
      const verify = () => verifyJournal(db, deployment, range, boundsFromNow(clock, call), check);
      return { data: await verifying.run(who, signal, verify) };
    },
  };
}

/** Definitions that were executed, by the hash that an entry names: for the owner, and for others where the owner says so. */
export function keptDefinitions({
  db,
  access,
  reading,
}: Pick<RuntimeContext, 'db' | 'access' | 'reading'>): Handlers<typeof keptDefinitionRpcs> {
  const hasExecuted = createExecutedVersions(db, reading.run);
  return {
    'definitions.get': async ({ params }, { caller, signal }) => {
      const { id, worldId, isOwner, isCodePublic } = await access.see(params, caller);
      if (!isOwner && !isCodePublic) throw new ServiceError('forbidden', CODE_NOT_PUBLIC);
      // Its owner keeps definitions of other deployments of the world from strangers.
      const isFound = isOwner || (await hasExecuted(id, params.hash, signal));
      const data = isFound ? await findDefinition(db, worldId, params.hash) : undefined;
      if (data === undefined) throw new ServiceError('definition_not_found');
      return { data };
    },
  };
}

const CODE_NOT_PUBLIC =
  'Only the owner reads the definitions of this deployment: others may where its setting isCodePublic is true.';

export const journalHandlers = ({ db }: RuntimeContext): Handlers<typeof journalRpcs> => ({
  'journal.heads': (request) => journalHeads(db, request),
  'journal.range': (request) => journalRange(db, request),
});

type Reads = Handlers<Pick<typeof historyRpcs, 'history.list' | 'history.get'>>;

/** A reader of the history does not wait longer for the chain-pusher, in milliseconds. */
const PUSHES_TIMEOUT_MS = 2000;

/**
 * Adds to history entries how their pushes stand. The chain-pusher stores that; it is asked once for a page, and only where
 * an entry has pushes.
 */
export const withPushResults = (context: RuntimeContext, reads: Reads): Reads => ({
  'history.list': async (request, call) => {
    const page = await reads['history.list'](request, call);
    return { ...page, data: await filledIn(context, page.data, call.signal) };
  },
  'history.get': async (request, call) => {
    const found = await reads['history.get'](request, call);
    const [data = found.data] = await filledIn(context, [found.data], call.signal);
    return { ...found, data };
  },
});

/** Lists for strangers: the gateway passes the page on without reading it, since a page may have many megabytes. */
export const publicHistory = (
  reads: Reads,
): Handlers<Pick<typeof publishedRpcs, 'history.published'>> & Reads => ({
  ...reads,
  'history.published': async (request, call) => {
    const { data: entries, pagination } = await reads['history.list'](request, call);
    const data = entries.map(asAnyoneSees);
    return { data, pagination, isMoving: data.some(isUnsettled) };
  },
});

async function filledIn(
  { bus, clock }: RuntimeContext,
  entries: HistoryEntry[],
  signal: AbortSignal,
): Promise<HistoryEntry[]> {
  const pushed = entries.filter(({ pushes }) => pushes.length > 0);
  const [first] = pushed;
  if (first === undefined) return entries;
  const request = { deployment: first.deployment, historyIds: pushed.map(({ id }) => id) };
  const call = serviceCall('runtime', clock, PUSHES_TIMEOUT_MS, signal);
  const known = await bus
    .call(chainContract.rpcs['pushes.ofEntries'], request, call)
    // The history is there without the chain-pusher.
    .catch(() => undefined);
  const keyOf = (historyId: string, chain: string) => `${historyId} ${chain}`;
  const results = new Map(known?.pushes.map(({ historyId, push }) => [keyOf(historyId, push.chain), push]));
  return entries.map((entry) => ({
    ...entry,
    pushes: entry.pushes.map((push) => {
      if (known === undefined) return { ...push, status: 'unknown' as const };
      return results.get(keyOf(entry.id, push.chain)) ?? push;
    }),
  }));
}

export const lifecycleHandlers = ({ db, access, clock }: RuntimeContext): Handlers<typeof lifecycleRpcs> => ({
  'lifecycle.read': async (request) => ({
    ...(await readLifecycle(db, request)),
    now: new Date(clock.now()).toISOString(),
  }),
  'deployments.authorize': async ({ params, relation }, { caller }) => {
    if (caller.kind !== 'account') throw new ServiceError('deployment_not_found');
    if (relation === 'owner') await access.ownedHere(params, caller);
    const row = await access.visible(params, caller);
    return {
      deployment: row.address,
      isPaused: isPaused(row),
      lifecycle: await lifecycleHeadOf(db, row.id),
      seesCode: row.owner_account_id === caller.accountId || row.is_code_public,
    };
  },
});
