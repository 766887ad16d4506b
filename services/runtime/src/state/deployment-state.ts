import type { BindingRecord, JsonValue, WorldTexts } from '@orrery/contracts';
import type { Selectable } from 'kysely';
import type { RuntimeTables } from '../database/schema.js';
import type { ClaimedMessages } from './claimed-messages.js';
import type { InstanceMemory } from './instance-memory.js';
import type { OpenRuns } from './open-runs.js';

export type DeploymentRow = Selectable<RuntimeTables['deployments']>;

/** An event bound to a version. */
export interface Binding extends Readonly<Omit<BindingRecord, 'createdAt' | 'updatedAt'>> {
  readonly versionId: number;
  /** Of the claim on the version; null where an older release made the binding. */
  readonly claimRevision: number | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The last entry of a deployment's journal; `totals` are the counters that lists show. */
export interface JournalHead {
  readonly seq: number;
  readonly hash: string;
  /** RFC 3339, UTC, milliseconds: such texts are in the order of their times. */
  readonly executedAt: string;
  readonly totals: Readonly<Record<string, number>>;
}

/** A time for what follows the journal's last entry, in milliseconds: none is earlier than the entry before it. */
export const timeAfter = ({ executedAt }: JournalHead, now: number): number =>
  Math.max(now, Date.parse(executedAt));

export interface ClaimedSchema {
  readonly schemaId: number;
  /** Of the claim at the catalog; null where an older release made it. */
  readonly revision: number | null;
  readonly committed: boolean;
}

/** Answers of requests with an Idempotency-Key that were committed while this state was in memory, by key. */
export type KnownKeys = Map<string, { requestHash: string; reply: JsonValue }>;

/** Identifies an Idempotency-Key among those of a deployment. */
export const keyIdOf = (key: { accountId: number; operation: string; key: string }): string =>
  JSON.stringify([key.accountId, key.operation, key.key]);

/**
 * A deployment at its owner, as its rows will be once the batch in flight is committed. Items are decided against it one
 * after the other and change it at once. When a commit fails or its outcome is unknown, the state is forgotten and read
 * again.
 */
export interface DeploymentState {
  readonly id: number;
  readonly partition: number;
  /** The lease's epoch when this was read; the database refuses a commit under another one. */
  readonly epoch: number;
  row: DeploymentRow;
  head: JournalHead;
  bindings: ReadonlyMap<string, Binding>;
  readonly instances: InstanceMemory;
  /** Schemas that the deployment has claimed from the catalog, by name; `committed` once the first instance is. */
  readonly claimedSchemas: Map<string, ClaimedSchema>;
  readonly keys: KnownKeys;
  readonly messages: ClaimedMessages;
  /** Runs that have not ended, with what they hold. */
  readonly runs: OpenRuns;
}

export const isPaused = (row: DeploymentRow): boolean =>
  row.owner_paused || row.operator_paused || row.account_paused;

/** What no other item may change while a run holds it. */
export interface Holds {
  /** By their keys in changes (`horse:HORSE_1`), including instances that do not exist. */
  readonly instances: readonly string[];
  /** Schemas whose instances may not be changed, created or deleted. */
  readonly schemas: readonly string[];
  /** When the run ends at the latest, in milliseconds since the epoch; absent for one that waits for its payment. */
  readonly until?: number;
  /** How many instances the run will add: room under the deployment's limit that is reserved for it. */
  readonly room?: number;
}

/** What the deployment's other items must know of a run that has not ended. */
export interface OpenRun {
  readonly id: string;
  /** Which commit its row is from; each commit that changes the row compares it and raises it. */
  readonly step: number;
  /** The Idempotency-Key that it has claimed. */
  readonly claim: { readonly keyId: string; readonly requestHash: string } | null;
  readonly holds: Holds | null;
  /** Its outcome waits for a payment: until then neither bindings nor mode and pauses may change. */
  readonly staged: boolean;
  /** Its payment may be charged or is, and what it pays for is not committed: the deployment cannot be deleted. */
  readonly awaitsPayment: boolean;
}

/** What a locked deployment runs, for ever; `definitionHash` is its hash. */
export interface LockedDefinition {
  readonly world: WorldTexts;
  readonly aiModelId: string | null;
  readonly bindings: readonly {
    readonly event: string;
    readonly eventVersion: number;
    readonly versionHash: string;
  }[];
}

/** Undefined while the deployment is not locked. */
export const lockedDefinitionOf = ({
  mode,
  locked_definition: stored,
}: Pick<DeploymentRow, 'mode' | 'locked_definition'>): LockedDefinition | undefined =>
  // Written by the lock.
  mode === 'locked' ? (stored as unknown as LockedDefinition) : undefined;
