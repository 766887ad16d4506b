import type { BoundVersion, DeploymentLifecycle, LifecycleEntry } from '@orrery/contracts';
import type { CronSchedule } from '@orrery/expressions';
import { sql } from 'kysely';
import {
  correctedTimes,
  pauseCausesAfter,
  type Replay,
  replayLifecycle,
} from '../../core/schedules/replay-lifecycle.js';
import { changeTiming, type Timing } from '../../core/schedules/schedule-rules.js';
import { holdSchedules, timingColumns, timingOf, writeLedger } from '../schedules/schedule-store.js';
import type { DeploymentRow, ScheduleRow, Trx } from '../tables/schema.js';
import type { BoundDefinition } from './bound-definitions.js';

export interface Facts {
  /** As far as the deployment was followed before. */
  readonly known: DeploymentRow | undefined;
  readonly lifecycle: DeploymentLifecycle;
  readonly definitions: ReadonlyMap<number, BoundDefinition>;
  /** When the lifecycle was asked for, and the time now, by the database's clock. */
  readonly askedAt: number;
  readonly now: number;
}

/** Makes a deployment's schedules what the facts say, and the ledger what they say of the time before. */
export async function writeSchedules(trx: Trx, facts: Facts): Promise<void> {
  const { lifecycle, now } = facts;
  const rows = new Map((await holdSchedules(trx, lifecycle.deployment)).map((row) => [row.event, row]));
  const bindings = new Map(lifecycle.bindings.map((binding) => [binding.event, binding]));
  const events = new Set([...rows.keys(), ...bindings.keys()]);
  const { deployment, worldId: world_id, worldAddress: world_address } = lifecycle;
  const names = { deployment, world_id, world_address };
  const ledgers = [];
  for (const event of [...events].sort()) {
    const [row, binding] = [rows.get(event), bindings.get(event)];
    // What was unbound before, and still is, has nothing to follow.
    if (binding === undefined && (row === undefined || row.binding_id === null)) continue;
    const bound = binding && { binding, definition: facts.definitions.get(binding.versionId) };
    const replay = replayOf(event, row, bound, facts);
    const columns = { ...timingColumns(replay.timing), ...boundColumns(bound) };
    const scheduleId = await writeSchedule(trx, row?.id, { ...names, event }, columns);
    ledgers.push({ scheduleId, rows: replay.ledger, pauseEnded: replay.pauseEnded });
  }
  await writeLedger(trx, ledgers, now);
  await writeDeployment(trx, facts);
}

interface Bound {
  readonly binding: BoundVersion;
  /** Undefined when the catalog has no such version any more. */
  readonly definition: BoundDefinition | undefined;
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
    entries: entriesOf(facts),
    pauseCauses: known?.pause_causes ?? [],
    isPaused: lifecycle.isPaused,
    cron: cronOf(bound?.definition),
    isSameVersion: row?.version_id === bound?.binding.versionId,
    versionBefore: row?.event_version ?? null,
    now,
    since: known?.synced_at?.getTime() ?? 0,
  };
  return replayLifecycle(row === undefined ? notYet(facts) : timingOf(row), replayed);
}

/** Where the journal no longer has the entry that was followed last, only what is now counts. */
const entriesOf = ({ known, lifecycle, askedAt, now }: Facts): readonly LifecycleEntry[] =>
  known !== undefined && lifecycle.afterHash !== known.hash
    ? []
    : correctedTimes(lifecycle.entries, Date.parse(lifecycle.now), [askedAt, now]);

/** An event that was never bound before: nothing of it is decided. */
const notYet = ({ known }: Facts): Timing => ({
  cron: null,
  isPaused: false,
  deploymentPaused: (known?.pause_causes.length ?? 0) > 0,
  nextAt: null,
  decidedUntil: 0,
});

/** A version has a schedule where its visibility says so. */
function cronOf(definition: BoundDefinition | undefined): CronSchedule | null {
  const settings = definition?.executionSettings;
  if (settings?.visibility !== 'cron' || settings.cron === undefined) return null;
  const { schedule, timezone } = settings.cron;
  return { schedule, ...(timezone !== undefined && { timezone }) };
}

type Columns = ReturnType<typeof timingColumns> & ReturnType<typeof boundColumns>;

/** Resolves with the row's id. */
async function writeSchedule(
  trx: Trx,
  id: number | undefined,
  names: Pick<ScheduleRow, 'deployment' | 'world_id' | 'world_address' | 'event'>,
  columns: Columns,
): Promise<number> {
  if (id !== undefined) {
    await trx.updateTable('schedules').set(columns).where('id', '=', id).execute();
    return id;
  }
  const inserted = trx.insertInto('schedules').values({ ...names, ...columns });
  return (await inserted.returning('id').executeTakeFirstOrThrow()).id;
}

/** The columns of a row that say what is bound. */
function boundColumns(bound: Bound | undefined) {
  const definition = bound?.definition;
  const input = definition?.executionSettings?.cron?.input ?? null;
  return {
    binding_id: bound?.binding.bindingId ?? null,
    version_id: bound?.binding.versionId ?? null,
    event_version: bound?.binding.eventVersion ?? null,
    version_hash: definition?.versionHash ?? null,
    definition_hash: definition?.hash ?? null,
    is_draft: definition?.isLocked === false,
    input: input === null ? null : sql<never>`cast(${JSON.stringify(input)} as jsonb)`,
  };
}

/** Ends all schedules of a deployment that the runtime does not know any more. Their ledgers stay until they are old. */
export async function endSchedules(trx: Trx, deployment: string, now: number): Promise<void> {
  const rows = (await holdSchedules(trx, deployment)).filter(({ binding_id }) => binding_id !== null);
  const ledgers = [];
  for (const row of rows) {
    const { timing, ledger, pauseEnded } = changeTiming(
      timingOf(row),
      { cron: null },
      now,
      'deployment_deleted',
    );
    const columns = { ...timingColumns(timing), ...boundColumns(undefined) };
    await trx.updateTable('schedules').set(columns).where('id', '=', row.id).execute();
    ledgers.push({ scheduleId: row.id, rows: ledger, pauseEnded });
  }
  await writeLedger(trx, ledgers, now);
  await trx.deleteFrom('deployments').where('address', '=', deployment).execute();
}

async function writeDeployment(trx: Trx, facts: Facts): Promise<void> {
  const { head, deployment, isDeleted: is_deleted, isPaused } = facts.lifecycle;
  const synced_at = new Date(facts.askedAt);
  const pause_causes = pauseCausesAfter(facts.known?.pause_causes ?? [], entriesOf(facts), isPaused);
  const row = { seq: head.seq, hash: head.hash, pause_causes, synced_at, is_deleted };
  await trx
    .insertInto('deployments')
    .values({ address: deployment, ...row })
    .onConflict((conflict) => conflict.column('address').doUpdateSet(row))
    .execute();
}
