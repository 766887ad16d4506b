import type { ServiceError } from '@orrery/contracts';
import type { HistorySearch, InstanceName, SealedEntry } from '@orrery/deciding';
import type {
  Effects,
  OnceKeyEffect,
  PaymentEffect,
  RunEffect,
  TimerMove,
} from '../../store/commit/effects.js';
import type { BuiltValues } from '../../store/commit/stage-indexes.js';
import type { DeploymentState, HoldName } from '../../store/state/deployment-state.js';
import type { IdBlocks } from '../../store/state/id-blocks.js';

/** What has to be in memory before an item can be decided. */
export interface ItemNeeds {
  readonly instances?: readonly InstanceName[];
  /** Schemas whose instances are all read. */
  readonly schemas?: readonly string[];
  /** Schemas whose instances are all searched. */
  readonly searched?: readonly string[];
  /** What is to be found in the journal. */
  readonly history?: HistorySearch;
  /** Schemas to be claimed from the catalog, since a first instance of them is created. */
  readonly claims?: readonly string[];
  /** Ids for this many created instances or bindings. */
  readonly ids?: number;
  /** Keys of timers. */
  readonly timerKeys?: readonly string[];
}

/** The outcome of deciding an item against the state that the item before it left. */
export type ItemOutcome<T> =
  /** Something is not in memory, or the preparation no longer fits: prepare again and decide again. */
  | { readonly kind: 'needs'; readonly needs: ItemNeeds }
  | { readonly kind: 'prepare' }
  /** A run holds something that the item changes, or wants to hold: decide again once it is released. */
  | { readonly kind: 'wait'; readonly for: HoldName; readonly toHold: boolean }
  /** Nothing to commit, except values for an index that is being built. */
  | { readonly kind: 'answer'; readonly answer: T; readonly built?: BuiltValues }
  | { readonly kind: 'refuse'; readonly error: ServiceError }
  /** A step of a run, without an entry. Decided again after a lost commit it must have the same outcome. */
  | {
      readonly kind: 'record';
      readonly run: RunEffect;
      readonly onceKeys?: readonly OnceKeyEffect[];
      readonly payment?: PaymentEffect;
      readonly timer?: TimerMove;
      /** Schemas whose claims are committed with it, before their first instances are. */
      readonly claims?: readonly string[];
      /** An entry that is committed with it, and that nobody waits for. */
      readonly before?: Effects | undefined;
      readonly settlement: { readonly reply: T } | { readonly error: ServiceError };
    }
  /** One journal entry with its effects; `answer` is given once it is committed. */
  | {
      readonly kind: 'commit';
      readonly effects: Effects;
      readonly answer: (entry: SealedEntry) => { reply: T } | { error: ServiceError };
    };

/** One request in the order of a deployment. */
export interface WorkItem<T> {
  readonly deploymentId: number;
  /** In milliseconds, by the monotonic clock. Past it, or once the signal aborts, an item is dropped unless it has been decided. */
  readonly deadline: number;
  readonly signal: AbortSignal;
  /** The follow-up without delay that it executes: other items of the deployment stay behind it (docs/timers.md). */
  readonly turn?: string;
  /** Called when it begins to wait for what a run holds. */
  readonly onWait?: () => void;
  /** Loads what `decide` needs from outside, before the item is queued; it may be called several times. */
  prepare(state: DeploymentState): Promise<void> | void;
  /** Pure and synchronous: everything it reads is in memory. `now` in milliseconds since the epoch. */
  decide(state: DeploymentState, ids: IdBlocks, now: number): ItemOutcome<T>;
}
