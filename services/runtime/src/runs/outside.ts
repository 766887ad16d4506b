import type { JsonObject, VersionDefinition } from '@orrery/contracts';
import type { Evidence } from '../execution/conclude-execution.js';

/** What is asked of the world outside: everything that a decision may depend on, as it was read. */
export interface OutsideRequest {
  readonly executionId: string;
  readonly deployment: { readonly address: string; readonly worldAddress: string };
  readonly definition: VersionDefinition;
  readonly input: JsonObject;
  /** Schema → instanceId → state, defaults filled in. */
  readonly entities: JsonObject;
  /** Ms since epoch; past it nobody waits for the answer. */
  readonly deadline: number;
}

/** A mutation in its plain form (decisions §4 "Changing"); it is stored as it is before anything is applied. */
export interface OutsideAnswer extends Partial<Evidence> {
  readonly mutation: JsonObject;
}

/**
 * Whoever decides when a version does not: a model, later on. Called outside any transaction and lane, and once more
 * for the same run when what was read has changed meanwhile or its owner was lost. What it throws fails the execution.
 */
export type Outside = (request: OutsideRequest, signal: AbortSignal) => Promise<OutsideAnswer>;
