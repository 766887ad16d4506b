import type { JsonValue } from '@orrery/contracts';
import type { SealedEntry } from '@orrery/deciding';
import type { OrderValue } from '@orrery/expressions';
import type { Updateable } from 'kysely';
import type { Binding, DeploymentState } from '../state/deployment-state.js';
import type { RuntimeSchema } from '../tables/schema.js';
import type { Effects, PaymentEffect } from './effects.js';

/** An instance that the batch touches; its row is written once, with its final state. */
export interface TouchedInstance {
  readonly state: DeploymentState;
  readonly entitySchema: string;
  readonly instanceId: string;
  readonly existedBefore: boolean;
  /** Deleted and created again within the batch, so its row gets a new id. */
  recreated: boolean;
}

export interface NewEntry {
  readonly deploymentId: number;
  readonly entry: SealedEntry;
  readonly effects: Effects;
  /** Of the request that caused it, where that is recorded (`activeTrace`). */
  readonly trace?: string | undefined;
}

/** The columns of a run's row. `from` is the step that the row must still be at; null: the row is new. */
export interface RunWrite {
  readonly deploymentId: number;
  readonly from: number | null;
  readonly step: number;
  readonly columns: Updateable<RuntimeSchema['runs']>;
}

/** The binding of an event; null: it is removed. */
export interface BindingWrite {
  readonly deployment_id: number;
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
  | { readonly kind: 'end'; readonly columns: Updateable<RuntimeSchema['once_keys']> }
  | { readonly kind: 'release' }
);

/** What happens to the row of a payment. */
export interface PaymentWrite extends Pick<PaymentEffect, 'kind' | 'key'> {
  readonly columns?: Updateable<RuntimeSchema['payments']>;
}

/** What becomes of a timer that is there: whose it was, whose it is, whether it is gone. */
export interface MovedTimer {
  /** The run that it must be with; null: it must be pending. */
  readonly was: string | null;
  readonly now: string | null;
  readonly gone: boolean;
  /** Of one that is pending again. */
  readonly dueAt?: string;
}

/** The value of an instance in an index; undefined: the instance is gone. */
export interface IndexedValueWrite {
  readonly indexId: number;
  readonly instanceId: string;
  readonly value: OrderValue | undefined;
}

/** How far an index has come. */
export interface BuiltIndex {
  readonly id: number;
  readonly built_to: number;
  readonly state: 'building' | 'complete';
}
