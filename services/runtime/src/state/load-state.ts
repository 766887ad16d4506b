import { sql } from 'kysely';
import type { Db } from '../database/db.js';
import type { RunState } from '../database/schema.js';
import { partitionOf } from '../ownership/partitions.js';
import { BINDING_OBJECT } from './binding-columns.js';
import { ClaimedMessages } from './claimed-messages.js';
import {
  type Binding,
  type ClaimedSchema,
  type DeploymentRow,
  type DeploymentState,
  type Holds,
  type JournalHead,
  keyIdOf,
  type OpenRun,
} from './deployment-state.js';
import { createInstanceMemory } from './instance-memory.js';
import { OpenRuns } from './open-runs.js';

interface LoadedRow extends DeploymentRow {
  head: Omit<JournalHead, 'executedAt'>;
  head_at: Date;
  bindings: (Omit<Binding, 'createdAt' | 'updatedAt'> & { createdAt: string; updatedAt: string })[] | null;
  claimed: Record<string, Omit<ClaimedSchema, 'committed'>> | null;
  runs: OpenRunRow[] | null;
}

/**
 * Reads a deployment in one statement, without its instances; `undefined` when it does not exist or was deleted. `now` in
 * milliseconds since the epoch.
 */
export async function loadState(
  db: Db,
  id: number,
  epoch: number,
  now: number,
): Promise<DeploymentState | undefined> {
  const { rows } = await sql<LoadedRow>`
    select d.*,
      jsonb_build_object('seq', h.seq, 'hash', h.hash, 'totals', h.totals) as head,
      (select j.executed_at from journal j where j.deployment_id = h.deployment_id and j.seq = h.seq) as head_at,
      (select jsonb_agg(${sql.raw(BINDING_OBJECT)} order by b.id)
        from bindings b where b.deployment_id = d.id) as bindings,
      (select jsonb_object_agg(c.entity_schema, jsonb_build_object('schemaId', c.schema_id, 'revision', c.claim_revision))
        from claimed_schemas c where c.deployment_id = d.id) as claimed,
      (select jsonb_agg(jsonb_build_object('id', r.id, 'step', r.step, 'state', r.state, 'holds', r.holds, 'accountId', r.account_id,
          'operation', r.operation, 'key', r.key, 'requestHash', r.request_hash))
        from runs r where r.deployment_id = d.id and r.ended_at is null) as runs
    from deployments d join journal_heads h on h.deployment_id = d.id
    where d.id = ${id} and d.deleted_at is null`.execute(db);
  const [row] = rows;
  return row && stateOf(row, epoch, now);
}

function stateOf(
  { head, head_at, bindings, claimed, runs, ...row }: LoadedRow,
  epoch: number,
  at: number,
): DeploymentState {
  return {
    id: row.id,
    partition: partitionOf(row.id),
    epoch,
    row,
    head: { ...head, executedAt: head_at.toISOString() },
    bindings: new Map((bindings ?? []).map((binding) => [binding.event, bindingOf(binding)])),
    instances: createInstanceMemory(),
    claimedSchemas: new Map(
      Object.entries(claimed ?? {}).map(([name, claim]) => [name, { ...claim, committed: true }]),
    ),
    keys: new Map(),
    messages: new ClaimedMessages(at),
    runs: new OpenRuns((runs ?? []).map(openRunOf)),
  };
}

const bindingOf = (binding: NonNullable<LoadedRow['bindings']>[number]): Binding => ({
  ...binding,
  createdAt: new Date(binding.createdAt),
  updatedAt: new Date(binding.updatedAt),
});

/** A run that has not ended, as it is read with its deployment's state. */
export interface OpenRunRow {
  readonly id: string;
  readonly step: number;
  readonly state: string;
  readonly holds: Holds | null;
  readonly accountId: number | null;
  readonly operation: string | null;
  readonly key: string | null;
  readonly requestHash: string;
}

/** Runs are read with the state, so a new owner knows what they hold before it decides its first item. */
export const openRunOf = ({ id, step, state, holds, requestHash, ...claim }: OpenRunRow): OpenRun => ({
  id,
  step,
  claim: claimOf(claim, requestHash),
  holds,
  staged: state === 'staged',
  awaitsPayment: awaitsPayment(state),
});

const AWAITING: readonly string[] = ['awaiting_payment', 'paid', 'paid_decided'] satisfies RunState[];

/** Whether a run in this state waits for its payment, or is decided anew after it. */
export const awaitsPayment = (state: string): boolean => AWAITING.includes(state);

function claimOf(
  { accountId, operation, key }: Pick<OpenRunRow, 'accountId' | 'operation' | 'key'>,
  requestHash: string,
): OpenRun['claim'] {
  if (accountId === null || operation === null || key === null) return null;
  return { keyId: keyIdOf({ accountId, operation, key }), requestHash };
}
