import { type Bus, serviceCall } from '@orrery/bus';
import {
  type BoundVersion,
  type Cancellation,
  catalogContract,
  type DeploymentLifecycle,
  runtimeContract,
  type VersionDefinition,
} from '@orrery/contracts';
import { transaction } from '@orrery/database';
import type { CronSchedule } from '@orrery/expressions';
import type { Clock } from '@orrery/service-kit';
import { sql } from 'kysely';
import type { DatabaseClock } from '../database/database-clock.js';
import type { Db, Trx } from '../database/db.js';
import type { DeploymentRow, ScheduleRow } from '../database/schema.js';
import type { Timing } from '../schedules/schedule-rules.js';
import { holdSchedules, timingColumns, timingOf, writeLedger } from '../schedules/schedule-store.js';
import { type Replay, replayLifecycle } from './replay-lifecycle.js';
import { endSync, holdClaim, type SyncClaim } from './sync-queue.js';

export interface SyncDependencies {
  readonly db: Db;
  readonly bus: Pick<Bus, 'call'>;
  readonly clock: Clock;
  readonly databaseNow: DatabaseClock;
}

const TIMEOUT_MS = 10_000;

/**
 * Makes a deployment's schedules equal to what it has bound: asks the runtime what it is and how it came there, the
 * catalog what the bound versions say, and commits what follows. It asks after it has the claim, so what one sync commits
 * is never older than what the one before it did. Resolves with false when the claim was lost meanwhile.
 */
export async function syncDeployment(
  { db, bus, clock, databaseNow }: SyncDependencies,
  claim: SyncClaim,
  signal: Cancellation,
): Promise<boolean> {
  const { deployment } = claim;
  const known = await db
    .selectFrom('deployments')
    .selectAll()
    .where('address', '=', deployment)
    .executeTakeFirst();
  const options = () => serviceCall('scheduler', clock, TIMEOUT_MS, signal);
  const lifecycle = await bus.call(
    runtimeContract.rpcs['lifecycle.read'],
    { deployment, after: known?.seq ?? 0 },
    options(),
  );
  const versions = [...new Set(lifecycle.bindings.map(({ versionId }) => versionId))];
  const { versions: answers } = await bus.call(
    catalogContract.rpcs['definitions.confirm'],
    { versions: versions.map((versionId) => ({ versionId, hash: '' })), schemas: [], worlds: [] },
    options(),
  );
  const definitions = new Map<number, VersionDefinition>();
  for (const [index, versionId] of versions.entries()) {
    const answer = answers[index];
    if (answer?.state === 'changed') definitions.set(versionId, answer.definition);
  }
  const now = await databaseNow();
  return transaction(db, async (trx) => {
    if (!(await holdClaim(trx, claim))) return false;
    await writeSchedules(trx, { known, lifecycle, definitions, now });
    await endSync(trx, claim, now);
    return true;
  });
}

interface Facts {
  /** As far as the deployment was followed before. */
  readonly known: DeploymentRow | undefined;
  readonly lifecycle: DeploymentLifecycle;
  readonly definitions: ReadonlyMap<number, VersionDefinition>;
  readonly now: number;
}

async function writeSchedules(trx: Trx, facts: Facts): Promise<void> {
  const { lifecycle, now } = facts;
  const rows = new Map((await holdSchedules(trx, lifecycle.deployment)).map((row) => [row.event, row]));
  const bindings = new Map(lifecycle.bindings.map((binding) => [binding.event, binding]));
  const events = new Set([...rows.keys(), ...bindings.keys()]);
  const ledgers = [];
  for (const event of [...events].sort()) {
    const [row, binding] = [rows.get(event), bindings.get(event)];
    // What was unbound before, and still is, has nothing to follow.
    if (binding === undefined && (row === undefined || row.binding_id === null)) continue;
    const bound = binding && { binding, definition: facts.definitions.get(binding.versionId) };
    const replay = replayOf(event, row, bound, facts);
    const scheduleId = await writeSchedule(trx, { event, row, bound, replay, lifecycle });
    ledgers.push({ scheduleId, rows: replay.ledger, pauseEnded: replay.pauseEnded });
  }
  await writeLedger(trx, ledgers, now);
  await writeDeployment(trx, facts);
}

interface Bound {
  readonly binding: BoundVersion;
  /** Undefined when the catalog has no such version any more. */
  readonly definition: VersionDefinition | undefined;
}

function replayOf(
  event: string,
  row: ScheduleRow | undefined,
  bound: Bound | undefined,
  facts: Facts,
): Replay {
  const { lifecycle, known, now } = facts;
  const replayed = {
    event,
    entries: hasLostEntries(facts) ? [] : lifecycle.entries,
    pauseCauses: known?.pause_causes ?? [],
    isPaused: lifecycle.isPaused,
    cron: cronOf(bound?.definition),
    isSameVersion: row?.version_id === bound?.binding.versionId,
    now,
  };
  return replayLifecycle(row === undefined ? notYet(facts) : timingOf(row), replayed);
}

/** The journal no longer has the entry that was followed last: only what is now counts. */
const hasLostEntries = ({ known, lifecycle }: Facts): boolean =>
  known !== undefined && lifecycle.afterHash !== known.hash;

/** An event that was never bound before: nothing of it is decided. */
const notYet = ({ known }: Facts): Timing => ({
  cron: null,
  isPaused: false,
  deploymentPaused: (known?.pause_causes.length ?? 0) > 0,
  nextAt: null,
  decidedUntil: 0,
});

/** A version has a schedule where its visibility says so. */
function cronOf(definition: VersionDefinition | undefined): CronSchedule | null {
  const settings = definition?.executionSettings;
  if (settings?.visibility !== 'cron' || settings.cron === undefined) return null;
  const { schedule, timezone } = settings.cron;
  return { schedule, ...(timezone !== undefined && { timezone }) };
}

async function writeSchedule(
  trx: Trx,
  {
    event,
    row,
    bound,
    replay,
    lifecycle,
  }: {
    event: string;
    row: ScheduleRow | undefined;
    bound: Bound | undefined;
    replay: Replay;
    lifecycle: DeploymentLifecycle;
  },
): Promise<number> {
  const definition = bound?.definition;
  const input = definition?.executionSettings?.cron?.input ?? null;
  const columns = {
    ...timingColumns(replay.timing),
    binding_id: bound?.binding.bindingId ?? null,
    version_id: bound?.binding.versionId ?? null,
    event_version: bound?.binding.eventVersion ?? null,
    version_hash: definition?.versionHash ?? null,
    definition_hash: definition?.hash ?? null,
    is_draft: definition?.isLocked === false,
    input: input === null ? null : sql<never>`cast(${JSON.stringify(input)} as jsonb)`,
  };
  if (row !== undefined) {
    await trx.updateTable('schedules').set(columns).where('id', '=', row.id).execute();
    return row.id;
  }
  const { deployment, worldId, worldAddress } = lifecycle;
  const names = { deployment, world_id: worldId, world_address: worldAddress, event };
  const { id } = await trx
    .insertInto('schedules')
    .values({ ...names, ...columns })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

async function writeDeployment(trx: Trx, facts: Facts): Promise<void> {
  const { head, deployment } = facts.lifecycle;
  const row = { seq: head.seq, hash: head.hash, pause_causes: causesAfter(facts) };
  await trx
    .insertInto('deployments')
    .values({ address: deployment, ...row })
    .onConflict((conflict) => conflict.column('address').doUpdateSet(row))
    .execute();
}

/** What pauses the deployment now. What the entries do not tell is taken from how it is. */
function causesAfter(facts: Facts): string[] {
  const { known, lifecycle } = facts;
  const causes = new Set(known?.pause_causes ?? []);
  for (const { kind, cause } of hasLostEntries(facts) ? [] : lifecycle.entries) {
    if (kind === 'paused') causes.add(cause ?? 'owner');
    if (kind === 'resumed') causes.delete(cause ?? 'owner');
  }
  if (!lifecycle.isPaused) return [];
  return causes.size > 0 ? [...causes] : ['unknown'];
}
