import type { JsonValue, OnchainFilter } from '@orrery/contracts';
import type { Selectable } from 'kysely';
import type { RuntimeTables } from '../database/schema.js';
import type { InstanceMemory } from './instance-memory.js';
import type { OpenRun } from './open-run.js';

export type DeploymentRow = Selectable<RuntimeTables['deployments']>;

/** An event bound to a version. */
export interface Binding {
  readonly id: number;
  readonly event: string;
  readonly versionId: number;
  readonly eventVersion: number;
  readonly targetChains: string[];
  readonly onchain: OnchainFilter | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Where a deployment's journal stands; `totals` are the counters that lists show. */
export interface JournalHead {
  readonly seq: number;
  readonly hash: string;
  readonly totals: Readonly<Record<string, number>>;
}

export interface ClaimedSchema {
  readonly schemaId: number;
  readonly committed: boolean;
}

/** Answers of requests with an Idempotency-Key that were committed while this state was in memory, by key. */
export type KnownKeys = Map<string, { requestHash: string; reply: JsonValue }>;

/**
 * A deployment at its owner: what its rows will be once the batch under way is committed. Items are decided against it
 * one after the other and change it at once; when a commit fails or its outcome is unknown, the whole of it is
 * forgotten and read anew.
 */
export interface DeploymentState {
  readonly id: number;
  readonly partition: number;
  /** The lease's epoch when this was read; a commit under another one is refused by the database. */
  readonly epoch: number;
  row: DeploymentRow;
  head: JournalHead;
  bindings: ReadonlyMap<string, Binding>;
  readonly instances: InstanceMemory;
  /** Schemas that the catalog keeps for this deployment, by name; `committed` once its first instance is. */
  readonly claimedSchemas: Map<string, ClaimedSchema>;
  readonly keys: KnownKeys;
  /** Runs that wait for the world outside, by id, with what they hold. */
  readonly runs: Map<string, OpenRun>;
}

export const isPaused = (row: DeploymentRow): boolean =>
  row.owner_paused || row.operator_paused || row.account_paused;
