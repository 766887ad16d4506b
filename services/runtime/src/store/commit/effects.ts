import type { Caller, FailedCode, JsonObject, JsonValue, PushPlan } from '@orrery/contracts';
import type { JournalEntryDraft, PlannedFollowUp } from '@orrery/deciding';
import type { Insertable, Updateable } from 'kysely';
import type { Commitments } from '../../core/randomness/secrets.js';
import type { Binding, OpenRun } from '../state/deployment-state.js';
import type { TimerName } from '../state/pending-timers.js';
import type { RuntimeSchema } from '../tables/schema.js';

/** An Idempotency-Key whose answer is stored with the commit. */
export interface KeyedEffect {
  readonly accountId: number;
  readonly operation: string;
  readonly key: string;
  readonly requestHash: string;
  /** The answer to a repetition, where it differs from the item's own. */
  readonly answer?: JsonValue;
}

/** What an item changes of the deployment itself: columns of its row, and what stands in tables beside it. */
export interface SettingsColumns extends Updateable<RuntimeSchema['deployments']> {
  readonly is_kept?: boolean;
  readonly is_code_public?: boolean;
  readonly randomness?: Commitments;
}

/** Everything that one item commits: a journal entry and the rows that follow from it. */
export interface Effects {
  /** Includes the checked changes of instances. */
  readonly entry: JournalEntryDraft;
  /** Not covered by the entry's hash: the duration of the decision, the binding's push plan, the model's texts. */
  readonly durationMs?: number;
  readonly pushes?: PushPlan | null;
  readonly llm?: JsonObject | null;
  /** Nor this: where the code failed, for those who may see it. */
  readonly failedCode?: FailedCode | null;
  readonly row?: SettingsColumns;
  readonly bindings?: {
    /** New or changed ones, by event. */
    readonly put: readonly Binding[];
    readonly remove: readonly string[];
  };
  readonly key?: KeyedEffect;
  readonly onceKeys?: readonly OnceKeyEffect[];
  /** The run that ends with this. */
  readonly run?: RunEffect;
  /** The payment of that run: its row also gets the entry's `seq`. */
  readonly payment?: PaymentEffect;
  readonly timers?: TimerEffects;
  /** Another entry of the deployment, right before this one. */
  readonly before?: Effects | undefined;
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
    | { readonly insert: Insertable<RuntimeSchema['runs']> }
    | { readonly update: Updateable<RuntimeSchema['runs']> };
}

/** What an item does to the row of a payment. A released reservation leaves no row. */
export type PaymentEffect = { readonly key: string } & (
  | { readonly kind: 'reserve'; readonly columns: Insertable<RuntimeSchema['payments']> }
  | { readonly kind: 'update'; readonly columns: Updateable<RuntimeSchema['payments']> }
  | { readonly kind: 'release' }
);

/** A timer that a commit takes away: it is executed or cancelled. */
export interface EndedTimer extends TimerName {
  /** The run that executes it; null: it is pending. */
  readonly runId: string | null;
}

/** What an item does to the timers of its deployment. */
export interface TimerEffects {
  /** What is set and cancelled, in the order of the entry's `timers`. */
  readonly planned: readonly PlannedFollowUp[];
  /** Who executes what is set. */
  readonly caller: Caller;
  /** Of what is set. */
  readonly depth: number;
  readonly ended?: EndedTimer;
}

/** What a run does to the timer that it executes: it takes it, or gives it back without having executed it. */
export interface TimerMove {
  readonly timer: TimerName;
  readonly runId: string;
  readonly isTaken: boolean;
  /** Of one that is given back: when it was due. */
  readonly dueAt: string;
}
