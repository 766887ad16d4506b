import type { Caller, ContentLimits, ExecutionTrigger, JsonObject, ServiceError } from '@orrery/contracts';
import type { CheckedChanges } from '../journal/change.js';
import type { Needs } from '../state/instance-view.js';
import type { CompiledDefinition } from './compiled-definition.js';
import type { ReadSet } from './read-entities.js';

/** What an execution or a manual write may hold. */
export type ExecutionLimits = Pick<ContentLimits, 'inputBytes' | 'stateBytes' | 'entryBytes'>;

/** One execution of an event, with everything that its decision depends on except the instances. */
export interface Execution {
  readonly definition: CompiledDefinition;
  readonly deployment: { readonly address: string; readonly worldAddress: string };
  /** How many instances the deployment has before the execution, and how many it may have. */
  readonly instanceCount: { readonly before: number; readonly limit: number };
  readonly limits: ExecutionLimits;
  readonly event: string;
  readonly input: JsonObject;
  readonly caller: Caller;
  readonly trigger: ExecutionTrigger;
  /** The wallet that signed the request; null outside `/app`. */
  readonly walletAddress: string | null;
  /** Milliseconds since the epoch: the only time that templates see. */
  readonly now: number;
  /** `now` by RFC 3339: the text of a date costs microseconds, so it is made once. */
  readonly timestamp: string;
}

/** What an execution may commit: checked, and not yet committed. */
export interface Success {
  readonly changes: CheckedChanges;
  readonly result: JsonObject | null;
  readonly reads: ReadSet['reads'];
  /** Schemas read without a filter: all their instances were read. */
  readonly wholeSchemas: readonly string[];
}

/** The outcome of deciding an execution. */
export type Decision =
  /** Something is not in memory: load it and decide again. */
  | ({ readonly kind: 'needs' } & Needs)
  /** Refused before *read*: the caller gets the error, the journal gets no entry. */
  | { readonly kind: 'refused'; readonly error: ServiceError }
  /** Failed from *read* on: the journal gets a failed entry with this reason. */
  | { readonly kind: 'failed'; readonly error: ServiceError }
  | ({ readonly kind: 'succeeded' } & Success);
