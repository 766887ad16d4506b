import type { JsonObject, JsonValue, PushPlan } from '@orrery/contracts';
import type { Insertable, Updateable } from 'kysely';
import type { JournalEntryDraft, SealedEntry } from '../../core/entries/entry.js';
import type { Lease } from '../leases/partitions.js';
import type { Binding, DeploymentState, JournalHead, OpenRun } from '../state/deployment-state.js';
import type { RuntimeTables } from '../tables/schema.js';

/** An Idempotency-Key whose answer is stored with the commit. */
export interface KeyedEffect {
  readonly accountId: number;
  readonly operation: string;
  readonly key: string;
  readonly requestHash: string;
  /** The answer to a repetition, where it differs from the item's own. */
  readonly answer?: JsonValue;
}

/** Everything that one item commits: a journal entry and the rows that follow from it. */
export interface Effects {
  /** Includes the checked changes of instances. */
  readonly entry: JournalEntryDraft;
  /** Not covered by the entry's hash: the duration of the decision, the binding's push plan, the model's texts. */
  readonly durationMs?: number;
  readonly pushes?: PushPlan | null;
  readonly llm?: JsonObject | null;
  /** Columns of the deployment's row. */
  readonly row?: Updateable<RuntimeTables['deployments']>;
  readonly bindings?: BindingEffects;
  readonly key?: KeyedEffect;
  readonly onceKeys?: readonly OnceKeyEffect[];
  /** The run that ends with this. */
  readonly run?: RunEffect;
  /** The payment of that run: its row also gets the entry's `seq`. */
  readonly payment?: PaymentEffect;
}

interface BindingEffects {
  /** New or changed ones, by event. */
  readonly put: readonly Binding[];
  readonly remove: readonly string[];
}

/**
 * What an item does to a key that may be executed once, whoever requests it. `claim` takes the key: for a run, which ends
 * or releases it later, or (`runId` null) together with the item's answer. `end` stores the answer of the run that
 * claimed it. A key without `expiresAt` is kept until it is released.
 */
export type OnceKeyEffect = { readonly scope: string; readonly key: string } & (
  | {
      readonly kind: 'claim';
      readonly requestHash: string;
      readonly runId: string | null;
      readonly expiresAt: Date | null;
    }
  | { readonly kind: 'end'; readonly expiresAt: Date | null }
  | { readonly kind: 'release' }
);

/** What an item does to a run: the write to its row, and its state in memory from then on (`null`: it has ended). */
export interface RunEffect {
  readonly id: string;
  readonly open: Omit<OpenRun, 'step'> | null;
  readonly write:
    | { readonly insert: Insertable<RuntimeTables['runs']> }
    | { readonly update: Updateable<RuntimeTables['runs']> };
}

/** What an item does to the row of a payment. A released reservation leaves no row. */
export type PaymentEffect = { readonly key: string } & (
  | { readonly kind: 'reserve'; readonly columns: Insertable<RuntimeTables['payments']> }
  | { readonly kind: 'update'; readonly columns: Updateable<RuntimeTables['payments']> }
  | { readonly kind: 'release' }
);

/** An instance that the batch touches; its row is written once, with its final state. */
export interface TouchedInstance {
  readonly state: DeploymentState;
  readonly entitySchema: string;
  readonly instanceId: string;
  readonly existedBefore: boolean;
  /** Deleted and created again within the batch, so its row gets a new id. */
  recreated: boolean;
}

interface Checkpoint {
  readonly deploymentId: number;
  readonly entitySchema: string;
  readonly instanceId: string;
  readonly seq: number;
  readonly revision: number;
  readonly state: JsonValue;
}

/** The columns of a run's row. `from` is the step that the row must still be at; null: the row is new. */
export interface RunWrite {
  readonly deploymentId: number;
  readonly from: number | null;
  readonly step: number;
  readonly columns: Updateable<RuntimeTables['runs']>;
}

/** The binding of an event; null: it is removed. */
export interface BindingWrite {
  readonly deploymentId: number;
  readonly event: string;
  readonly binding: Binding | null;
}

/** The columns of a once-key that is claimed. Its answer is in `reply`, or in the entry at `seq`, or not there yet. */
interface ClaimedKey {
  readonly request_hash: string;
  readonly deployment_id: number;
  readonly run_id: string | null;
  readonly reply: JsonValue;
  readonly seq: number | null;
  readonly created_at: Date;
  readonly expires_at: Date | null;
}

/** What happens to the row of a once-key: it is inserted, its columns change, or it is deleted. */
export type OnceKeyWrite = { readonly scope: string; readonly key: string } & (
  | { readonly kind: 'claim'; readonly columns: ClaimedKey }
  | { readonly kind: 'end'; readonly columns: Updateable<RuntimeTables['once_keys']> }
  | { readonly kind: 'release' }
);

/** Everything that one commit writes. Each row is in it once, however many items change it. */
export interface Batch {
  readonly deployments: Map<number, DeploymentState>;
  readonly leases: Map<number, Lease>;
  /** The heads, before this batch, of the journals that get entries. */
  readonly headsBefore: Map<number, JournalHead>;
  readonly entries: {
    readonly deploymentId: number;
    readonly entry: SealedEntry;
    readonly effects: Effects;
    /** Of the request that caused it, where that is recorded (`activeTrace`). */
    readonly trace?: string | undefined;
  }[];
  readonly touched: Map<string, TouchedInstance>;
  readonly checkpoints: Checkpoint[];
  readonly claims: {
    readonly deploymentId: number;
    readonly entitySchema: string;
    readonly schemaId: number;
    readonly revision: number | null;
  }[];
  readonly keys: (KeyedEffect & { readonly reply: JsonValue; readonly at: Date })[];
  /** By the run's id. */
  readonly runs: Map<string, RunWrite>;
  /** Columns of the deployments' rows. */
  readonly settings: Map<number, Updateable<RuntimeTables['deployments']>>;
  /** By deployment and event. */
  readonly bindings: Map<string, BindingWrite>;
  /** By `onceKeyId`. */
  readonly onceKeys: Map<string, OnceKeyWrite>;
  /** By the payment's key; one item writes a payment in a batch. */
  readonly payments: Map<string, PaymentEffect>;
  /** Rows of every kind, and their bytes of JSON, roughly. */
  rows: number;
  bytes: number;
}

export const newBatch = (): Batch => ({
  deployments: new Map(),
  leases: new Map(),
  headsBefore: new Map(),
  entries: [],
  touched: new Map(),
  checkpoints: [],
  claims: [],
  keys: [],
  runs: new Map(),
  settings: new Map(),
  bindings: new Map(),
  onceKeys: new Map(),
  payments: new Map(),
  rows: 0,
  bytes: 0,
});

/** Everything that a commit writes belongs to an entry or to a step of a run, so recovery looks for these only. */
export const isEmpty = ({ entries, runs }: Batch): boolean => entries.length === 0 && runs.size === 0;

/** What one commit takes, roughly; the rest waits for the next. One item may exceed it by itself. */
const MAX_ROWS = 1000;
const MAX_BYTES = 4 * 1024 * 1024;

export const isFull = ({ rows, bytes }: Batch): boolean => rows >= MAX_ROWS || bytes >= MAX_BYTES;

/** Identifies a once-key within a batch. */
export const onceKeyId = ({ scope, key }: { readonly scope: string; readonly key: string }): string =>
  `${scope} ${key}`;
