import type { ExecutionError, ExpectedBinding, JsonObject, OccurrenceStatus } from '@orrery/contracts';
import type { ColumnType, Generated, Kysely, Selectable, Transaction } from 'kysely';
import type { CronState } from '../../core/occurrences/make-input.js';
import type { OccurrenceKind } from '../../core/occurrences/occurrence.js';

type Derived<T> = ColumnType<T, never, never>;

interface DeploymentsTable {
  address: string;
  /** The last lifecycle entry that was followed. */
  seq: number;
  hash: string;
  pause_causes: string[];
  /** When it was last asked for what it has bound; null for one that an older release followed. */
  synced_at: Date | null;
  is_deleted: Generated<boolean>;
}

/**
 * `wanted` grows with every hint, so a hint during a sync leads to another sync; `done` is what it was when the last one
 * that has ended began. `claim` is the process's that syncs.
 */
interface PendingSyncsTable {
  deployment: string;
  wanted: Generated<number>;
  done: Generated<number>;
  not_before: Date;
  failures: Generated<number>;
  claim: Generated<string | null>;
}

interface SchedulesTable {
  id: Derived<number>;
  deployment: string;
  world_id: number;
  world_address: string;
  event: string;
  /** Null while the event is not bound. */
  binding_id: number | null;
  version_id: number | null;
  event_version: number | null;
  version_hash: string | null;
  /** Tells with the catalog whether the definition is still the same. */
  definition_hash: string | null;
  /** The version can still change. */
  is_draft: Generated<boolean>;
  /** Null where the bound version has no schedule. */
  schedule: string | null;
  timezone: string | null;
  input: JsonObject | null;
  /** By the owner, as against with its deployment. */
  is_paused: Generated<boolean>;
  deployment_paused: Generated<boolean>;
  /** The first due time that is not decided; null while nothing is due. */
  next_at: Date | null;
  /** Every due time up to here has its row, or lies in a pause. */
  decided_until: Date;
  /** The occurrence whose outcome is not known yet. */
  open_occurrence: number | null;
  /** Due times skipped because of it. */
  skips: Generated<number>;
  counter: Generated<number>;
  cron_state: Generated<CronState>;
  consecutive_failures: Generated<number>;
  last_error: ExecutionError | null;
  /** The order among schedules that are due at the same time: a hash, so that neighbours have different owners. */
  spread: Derived<number>;
}

interface OccurrencesTable {
  id: Derived<number>;
  schedule_id: number;
  kind: OccurrenceKind;
  due_at: Date;
  until: Date | null;
  count: Generated<number>;
  status: OccurrenceStatus;
  reason: string | null;
  version_id: number | null;
  event_version: number | null;
  counter: number | null;
  /** What is sent, the same for each repetition of an attempt; null after the end, and where the template failed. */
  input: JsonObject | null;
  expected: ExpectedBinding | null;
  attempt: Generated<number>;
  /** Of the present attempt, without an outcome. */
  repeats: Generated<number>;
  /** While it is running: when a process may take it up, because the one that had it is gone or it is time to try again. */
  claimed_until: Date | null;
  /** Of the present attempt, if one before it failed. No process has taken it up while `claimed_until` is the same. */
  next_attempt_at: Date | null;
  outcome: 'succeeded' | 'failed' | null;
  history_id: string | null;
  seq: number | null;
  error: ExecutionError | null;
  started_at: Date;
  ended_at: Date | null;
  /** The runtime has been told that the outcomes are stored, or has nothing to forget. */
  acknowledged: Generated<boolean>;
}

interface ProgressTable {
  name: string;
  until: string;
}

export interface SchedulerSchema {
  deployments: DeploymentsTable;
  pending_syncs: PendingSyncsTable;
  schedules: SchedulesTable;
  occurrences: OccurrencesTable;
  progress: ProgressTable;
}

export type DeploymentRow = Selectable<DeploymentsTable>;
export type ScheduleRow = Selectable<SchedulesTable>;
export type OccurrenceRow = Selectable<OccurrencesTable>;

/** The scheduler's tables, inside or outside a transaction. */
export type Db = Kysely<SchedulerSchema>;
/** For what must be part of a transaction. */
export type Trx = Transaction<SchedulerSchema>;
