import {
  type Caller,
  canonicalHash,
  type DeploymentSource,
  type JournalVersion,
  type JsonValue,
  type NewDeployment,
} from '@orrery/contracts';
import { jsonb } from '@orrery/database';
import { genesisHash, type SealedEntry, sealEntry, uuidV7 } from '@orrery/deciding';
import { sql } from 'kysely';
import { lifecycleEntry } from '../../core/deciding/lifecycle-entry.js';
import { holdHere } from '../leases/homes.js';
import { partitionOf } from '../leases/leases.js';
import { insertBindings, type NewBinding } from '../state/bindings.js';
import { type DeploymentRow, type LockedDefinition, lockedColumns } from '../state/deployment-state.js';
import type { Trx } from '../tables/schema.js';
import { lockQuota, refuseOverQuota } from './account-store.js';
import { type ClaimedCopies, type Copied, copySource } from './copy-source.js';

/** Everything that a new deployment begins with. */
export interface DeploymentPlan {
  /** Where there are several databases: given by the directory. */
  readonly id: number | undefined;
  readonly address: string;
  readonly worldId: number;
  readonly worldAddress: string;
  readonly ownerAccountId: number;
  readonly given: NewDeployment;
  readonly bindings: readonly NewBinding[];
  /** Of a deployment that is locked from the start. */
  readonly locked: LockedDefinition | null;
  /** Of a clone: what it takes over from its source. */
  readonly copies: ClaimedCopies | null;
  readonly at: Date;
  /** Of its first entry. */
  readonly journalVersion: JournalVersion;
}

/**
 * The row, the bindings, what a clone copies and the first entry of the journal, in the transaction that makes the
 * deployment. @throws SourceChanged, `quota_exceeded`
 */
export async function insertDeployment(
  trx: Trx,
  plan: DeploymentPlan,
  caller: Caller,
  limits: { readonly instancesPerDeployment: number },
): Promise<DeploymentRow> {
  await lockQuota(trx, plan.ownerAccountId);
  await refuseOverQuota(trx, plan.ownerAccountId);
  const row = await insertRow(trx, plan);
  const isFork = plan.given.purpose === 'what_if';
  if (isFork) await trx.insertInto('what_if_forks').values({ deployment_id: row.id }).execute();
  const { isCodePublic } = plan.given;
  if (isCodePublic)
    await trx.insertInto('code_access').values({ deployment_id: row.id, is_public: true }).execute();
  const bindings = plan.bindings.map(({ binding }) => binding);
  await insertBindings(trx, row.id, bindings);
  const entryId = uuidV7(plan.at.getTime());
  const target = { id: row.id, partition: partitionOf(row.id), at: plan.at, entryId };
  const copied = plan.copies && (await copySource(trx, plan.copies, target, limits));
  if (copied !== null) await setSource(trx, row.id, copied.source);
  await insertFirstEntry(trx, row, firstEntry(plan, caller, copied, entryId), copied);
  return {
    ...row,
    source: copied?.source ?? null,
    is_kept: isFork ? false : null,
    is_code_public: isCodePublic,
    randomness: null,
  };
}

/** @throws PartitionGone where the partition of the id has left this database meanwhile */
async function insertRow(trx: Trx, plan: DeploymentPlan) {
  const { id } = plan;
  const into = trx.insertInto('deployments');
  const given = { ...(id !== undefined && { id }), ...columnsOf(plan) };
  const names = Object.keys(given) as (keyof typeof given)[];
  const values = sql.join(names.map((name) => given[name]));
  const row = await into
    .columns(names)
    .expression(sql`overriding system value values (${values})`)
    .returningAll()
    .executeTakeFirstOrThrow();
  if (!(await holdHere(trx, partitionOf(row.id)))) throw new PartitionGone();
  return row;
}

/** The deployment is to be created in another database. Never leaves the runtime. */
export class PartitionGone extends Error {
  override readonly name = 'PartitionGone';
}

const setSource = (trx: Trx, id: number, source: DeploymentSource) =>
  trx
    .updateTable('deployments')
    .set({ source: jsonb(source) })
    .where('id', '=', id)
    .execute();

function columnsOf({ address, worldId, worldAddress, ownerAccountId, given, locked, at }: DeploymentPlan) {
  const lockedPart = locked && lockedColumns(locked, at);
  return {
    address,
    world_id: worldId,
    world_address: worldAddress,
    owner_account_id: ownerAccountId,
    name: given.name,
    description: given.description ?? null,
    mode: given.mode,
    is_llm_public: given.isLLMPublic,
    ai_model_id: given.aiModelId ?? null,
    ai_daily_budget_usd: given.aiDailyBudgetUsd ?? null,
    pay_to_address: given.payToAddress ?? null,
    ...(lockedPart && { ...lockedPart, locked_definition: jsonb(lockedPart.locked_definition) }),
    created_at: at,
    updated_at: at,
  };
}

function firstEntry(
  { address, given, bindings, at, locked, journalVersion: v }: DeploymentPlan,
  caller: Caller,
  copied: Copied | null,
  id: string,
): SealedEntry {
  const { name, mode, purpose } = given;
  const source = copied?.source ?? null;
  const timers = copied?.timers ?? [];
  const facts = {
    name,
    mode,
    bindings: bindings.map(({ facts }) => facts),
    ...(source && { source: { ...source } }),
    ...(purpose && { purpose }),
    ...(given.isCodePublic && { isCodePublic: true }),
    // There may be too many for an entry to name each.
    ...(timers.length > 0 && {
      timers: { count: timers.length, hash: canonicalHash(timers as unknown as JsonValue) },
    }),
    ...(locked && { definitionHash: lockedColumns(locked, at).definition_hash }),
  };
  const draft = lifecycleEntry('deployment_created', address, caller, at.getTime(), facts);
  const prevHash = genesisHash({ deployment: address, source });
  return sealEntry({ ...draft, id }, { v, seq: 1, prevHash, at: draft.decidedAt });
}

async function insertFirstEntry(
  trx: Trx,
  { id }: Pick<DeploymentRow, 'id'>,
  entry: SealedEntry,
  copied: Copied | null,
): Promise<void> {
  const { instances = 0, timers = [] } = copied ?? {};
  await trx
    .insertInto('journal')
    .values({
      deployment_id: id,
      seq: entry.seq,
      id: entry.id,
      v: entry.v,
      kind: entry.kind,
      caller: entry.caller,
      input: jsonb(entry.input),
      changes: jsonb([]),
      executed_at: entry.executedAt,
      prev_hash: entry.prevHash,
      hash: entry.hash,
      decided_at: entry.decidedAt ?? null,
      evaluator: entry.evaluator ?? null,
    })
    .execute();
  const totals = {
    entries: entry.seq,
    ...(instances > 0 && { instances }),
    ...(timers.length > 0 && { timers: timers.length }),
  };
  const head = {
    deployment_id: id,
    seq: entry.seq,
    hash: entry.hash,
    totals: jsonb<Record<string, number>>(totals),
    active_minute: sql<number>`floor(extract(epoch from now()) / 60)::integer`,
  };
  await trx.insertInto('journal_heads').values(head).execute();
}
