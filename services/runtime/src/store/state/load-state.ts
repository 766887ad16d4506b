import { type HistorySearch, type InstanceName, MAX_SEARCHED_BYTES } from '@orrery/deciding';
import { createBatcher } from '@orrery/service-kit';
import { sql } from 'kysely';
import { isHere } from '../leases/homes.js';
import { NotOwner, partitionOf } from '../leases/leases.js';
import type { Db } from '../tables/schema.js';
import { AnsweredKeys } from './answered-keys.js';
import { type AttributeIndex, KEPT_INDEXES } from './attribute-indexes.js';
import { BINDING_OBJECT } from './bindings.js';
import type { ClaimedMessages } from './claimed-messages.js';
import { HAS_OWN_FIRST, type PutOwnLast } from './clone-order.js';
import {
  awaitsPayment,
  type Binding,
  type ClaimedSchema,
  type DeploymentRow,
  type DeploymentState,
  type Holds,
  type JournalHead,
  keyIdOf,
  type OpenRun,
  OpenRuns,
  ROW_COLUMNS,
} from './deployment-state.js';
import type { IdBlocks } from './id-blocks.js';
import { createInstanceMemory, type InstanceMemory, type MemoryInstance } from './instance-memory.js';
import { PendingTimers, type TimerName } from './pending-timers.js';
import { readRecent } from './read-recent.js';
import { timersWithKeys } from './timer-store.js';

interface LoadedRow extends DeploymentRow {
  head: Omit<JournalHead, 'executedAt'>;
  head_at: Date;
  bindings: (Omit<Binding, 'createdAt' | 'updatedAt'> & { createdAt: string; updatedAt: string })[] | null;
  claimed: Record<string, Omit<ClaimedSchema, 'committed'>> | null;
  runs: OpenRunRow[] | null;
  next: TimerName[] | null;
  indexes: AttributeIndex[] | null;
  highest_id: number | null;
  has_own_first: boolean | null;
}

/**
 * Reads a deployment in one statement, without its instances; `undefined` when it does not exist or was deleted. `now` in
 * milliseconds since the epoch. From then on a clone's own instances are behind those that it began with, and `ids` go beyond
 * theirs. @throws NotOwner where it has left this database
 */
export async function loadState(
  db: Db,
  id: number,
  epoch: number,
  {
    messages,
    now,
    ids,
    putOwnLast,
  }: {
    readonly messages: ClaimedMessages;
    readonly now: number;
    readonly ids: Pick<IdBlocks, 'goBeyond'>;
    readonly putOwnLast: PutOwnLast;
  },
): Promise<DeploymentState | undefined> {
  const { rows } = await sql<LoadedRow>`
    select ${sql.raw(ROW_COLUMNS)},
      jsonb_build_object('seq', h.seq, 'hash', h.hash, 'totals', h.totals) as head,
      (select j.executed_at from journal j where j.deployment_id = h.deployment_id and j.seq = h.seq) as head_at,
      (select jsonb_agg(${sql.raw(BINDING_OBJECT)} order by b.id)
        from bindings b where b.deployment_id = d.id) as bindings,
      (select jsonb_object_agg(c.entity_schema, jsonb_build_object('schemaId', c.schema_id, 'revision', c.claim_revision))
        from claimed_schemas c where c.deployment_id = d.id) as claimed,
      (select jsonb_agg(jsonb_build_object('id', r.id, 'step', r.step, 'state', r.state, 'holds', r.holds, 'requestHash', r.request_hash,
          'claim', case when r.key is not null then
            jsonb_build_object('accountId', r.account_id, 'operation', r.operation, 'key', r.key) end))
        from runs r where r.deployment_id = d.id and r.ended_at is null) as runs,
      ${sql.raw(KEPT_INDEXES)} as indexes,
      case when d.source is not null then (select max(i.id) from instances i where i.deployment_id = d.id) end as highest_id,
      case when d.source is not null then ${sql.raw(HAS_OWN_FIRST)} end as has_own_first,
      case when h.totals ? 'timers' then (
        select jsonb_agg(jsonb_build_object('id', t.id, 'key', t.key, 'tree', t.tree) order by t.set_seq, t.set_index)
        from timers t where t.deployment_id = d.id and t.tree is not null and t.run_id is null) end as next
    from deployments d join journal_heads h on h.deployment_id = d.id
    where d.id = ${id} and d.deleted_at is null`.execute(db);
  const [row] = rows;
  if (row === undefined && !(await isHere(db, partitionOf(id)))) throw new NotOwner(partitionOf(id));
  if (row?.has_own_first) ids.goBeyond(await putOwnLast({ deploymentId: id, epoch }));
  else if (row?.highest_id) ids.goBeyond(row.highest_id);
  return row && stateOf(row, { epoch, readAt: now, messages });
}

function stateOf(
  {
    head,
    head_at,
    bindings,
    claimed,
    runs,
    next,
    indexes,
    highest_id: _,
    has_own_first: _first,
    ...row
  }: LoadedRow,
  reading: Pick<DeploymentState, 'epoch' | 'readAt' | 'messages'>,
): DeploymentState {
  return {
    id: row.id,
    partition: partitionOf(row.id),
    ...reading,
    row,
    head: { ...head, executedAt: head_at.toISOString() },
    bindings: new Map((bindings ?? []).map((binding) => [binding.event, bindingOf(binding)])),
    instances: createInstanceMemory(),
    claimedSchemas: new Map(
      Object.entries(claimed ?? {}).map(([name, claim]) => [name, { ...claim, committed: true }]),
    ),
    keys: new AnsweredKeys(),
    runs: new OpenRuns((runs ?? []).map(openRunOf)),
    timers: new PendingTimers(next ?? []),
    indexes: indexes ?? [],
  };
}

const bindingOf = (binding: NonNullable<LoadedRow['bindings']>[number]): Binding => ({
  ...binding,
  createdAt: new Date(binding.createdAt),
  updatedAt: new Date(binding.updatedAt),
});

interface OpenRunRow {
  readonly id: string;
  readonly step: number;
  readonly state: string;
  readonly holds: Holds | null;
  readonly claim: Parameters<typeof keyIdOf>[0] | null;
  readonly requestHash: string;
}

/** Runs are read with the state, so a new owner knows what they hold before it decides its first item. */
const openRunOf = ({ id, step, state, holds, requestHash, claim }: OpenRunRow): OpenRun => ({
  id,
  step,
  claim: claim && { keyId: keyIdOf(claim), requestHash },
  holds,
  staged: state === 'staged',
  awaitsPayment: awaitsPayment(state),
});

/** Columns of an instance `i` as members. */
const INSTANCE = sql.raw(
  'i.id, i.state, i.revision, i.created_at as "createdAt", i.updated_at as "updatedAt"',
);

/** Reads into memory which timers are pending under keys. */
export async function loadTimerKeys(
  db: Db,
  { id, timers }: Pick<DeploymentState, 'id' | 'timers'>,
  keys: readonly string[],
): Promise<void> {
  const found = await timersWithKeys(db, id, keys);
  for (const timer of found) timers.learn(timer.key, timer);
  for (const key of keys) timers.learn(key, null);
}

interface Wanted extends InstanceName {
  deploymentId: number;
}

const AT_ONCE = 500;

export type InstanceLoader = ReturnType<typeof createInstanceLoader>;

/** Reads instances into memory; the requests of many items at the same time share one statement. */
export function createInstanceLoader(db: Db) {
  const shared = createSharedReads();
  const single = createBatcher({
    maxBatch: AT_ONCE,
    load: (wanted: readonly Wanted[]) => readEach(db, wanted),
  });
  return {
    loadOne: async (
      deploymentId: number,
      memory: InstanceMemory,
      { entitySchema, instanceId }: InstanceName,
    ): Promise<void> => {
      const found = await single({ deploymentId, entitySchema, instanceId });
      memory.learn(entitySchema, instanceId, found);
    },
    /** All instances of a schema, unless there are more than one execution may read, or search. Answers how many bytes it read. */
    loadSchema: (
      deploymentId: number,
      memory: InstanceMemory,
      entitySchema: string,
      most: number,
    ): Promise<number> =>
      shared(memory, JSON.stringify([entitySchema, most]), async () => {
        const { found, tooLargeBy, bytes } = await readSchema(db, deploymentId, entitySchema, most);
        memory.learnAll(entitySchema, found, most, tooLargeBy, bytes);
        return bytes;
      }),
    /** What a search finds in the journal, unless entries before `seq`, the last one by now, are still being committed. */
    loadHistory: (
      deploymentId: number,
      memory: InstanceMemory,
      search: HistorySearch,
      seq: number,
    ): Promise<number> =>
      shared(memory, JSON.stringify(search), async () => {
        memory.recent.start(seq);
        const { upTo, entries } = await readRecent(db, deploymentId, search);
        memory.recent.learn(search, upTo, entries);
        return entries.length;
      }),
  };
}

/**
 * Items that need the same of a deployment at the same time share one read, also one that began before they came: what has
 * changed since it began is in the memory that it is read for, and stays.
 */
function createSharedReads() {
  const inFlight = new WeakMap<InstanceMemory, Map<string, Promise<number>>>();
  return (memory: InstanceMemory, key: string, read: () => Promise<number>): Promise<number> => {
    const reads = inFlight.get(memory) ?? new Map<string, Promise<number>>();
    inFlight.set(memory, reads);
    const same = reads.get(key);
    if (same !== undefined) return same;
    const promise = read().finally(() => reads.delete(key));
    reads.set(key, promise);
    return promise;
  };
}

async function readEach(db: Db, wanted: readonly Wanted[]): Promise<(MemoryInstance | null)[]> {
  const { rows } = await sql<MemoryInstance & { readonly ordinal: number }>`
    select w.ordinal::int as ordinal, ${INSTANCE}
    from rows from (jsonb_to_recordset(cast(${JSON.stringify(wanted)} as jsonb))
      as ("deploymentId" bigint, "entitySchema" text, "instanceId" text)) with ordinality
      as w (deployment_id, entity_schema, instance_id, ordinal)
    join instances i using (deployment_id, entity_schema, instance_id)`.execute(db);
  const found = new Map(rows.map(({ ordinal, ...instance }) => [ordinal - 1, instance]));
  return wanted.map((_, index) => found.get(index) ?? null);
}

async function readSchema(
  db: Db,
  deploymentId: number,
  entitySchema: string,
  most: number,
): Promise<{ found: Map<string, MemoryInstance>; tooLargeBy: number; bytes: number }> {
  const { rows } = await sql<MemoryInstance & { readonly instanceId: string; bytes: number; all: number }>`
    select * from (
      select i.instance_id as "instanceId", ${INSTANCE}, sum(octet_length(i.state::text)) over () as all,
        sum(octet_length(i.state::text)) over (order by i.id rows unbounded preceding) as bytes
      from (select * from instances where deployment_id = ${deploymentId} and entity_schema = ${entitySchema}
        order by id limit ${most + 1}) i) i
    where bytes <= ${MAX_SEARCHED_BYTES} order by i.id`.execute(db);
  const found = new Map(
    rows.map(({ instanceId, bytes: _, all: _all, ...instance }) => [instanceId, instance]),
  );
  const bytes = rows.at(-1)?.bytes ?? 0;
  return { found, tooLargeBy: (rows[0]?.all ?? 0) - bytes, bytes };
}
