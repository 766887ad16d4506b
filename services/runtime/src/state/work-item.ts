import type { Cancellation, ServiceError } from '@orrery/contracts';
import type { IdBlocks } from '../ids/id-blocks.js';
import type { InstanceName } from '../journal/change.js';
import type { SealedEntry } from '../journal/entry.js';
import type { DeploymentState } from './deployment-state.js';
import type { Effects } from './effects.js';
import type { RunEffect } from './open-run.js';

/** What has to be in memory before an item can be decided. */
export interface ItemNeeds {
  readonly instances?: readonly InstanceName[];
  /** Schemas of which all instances are read. */
  readonly schemas?: readonly string[];
  /** Schemas to be claimed from the catalog, since a first instance of them is created. */
  readonly claims?: readonly string[];
  /** Ids for this many created instances or bindings. */
  readonly ids?: number;
}

/** What an item wants done, seen from the state that the item before it left. */
export type Decision<T> =
  /** Something is not in memory, or what was prepared no longer fits: prepare (again) and decide anew. */
  | { readonly kind: 'needs'; readonly needs: ItemNeeds }
  | { readonly kind: 'prepare' }
  /** What a run holds is in the way: decide anew once it lets go. */
  | { readonly kind: 'wait' }
  /** Nothing to commit. */
  | { readonly kind: 'answer'; readonly answer: T }
  | { readonly kind: 'refuse'; readonly error: ServiceError }
  /** A step of a run, which is no entry; decided again after a lost commit it must come to the same. */
  | {
      readonly kind: 'record';
      readonly run: RunEffect;
      readonly settlement: { readonly reply: T } | { readonly error: ServiceError };
    }
  /** One journal entry and what goes with it; `answer` is given once it is committed. */
  | {
      readonly kind: 'commit';
      readonly effects: Effects;
      readonly answer: (entry: SealedEntry) => { reply: T } | { error: ServiceError };
    };

/** One request that takes its place in a deployment's order. */
export interface WorkItem<T> {
  readonly deploymentId: number;
  /** Ms since epoch; past it, or once the signal aborts, an item is dropped unless it has been decided. */
  readonly deadline: number;
  readonly signal: Cancellation;
  /** Asks the world outside for what `decide` needs, before the item is queued; it may run several times. */
  prepare(state: DeploymentState): Promise<void> | void;
  /** Pure, and without waiting: everything it looks at is in memory. `now` in ms since epoch. */
  decide(state: DeploymentState, ids: IdBlocks, now: number): Decision<T>;
}
