import type { ExecutionTrigger, ExpectedBinding, JsonObject } from '@orrery/contracts';
import type { CompiledDefinition } from '../execution/compiled-definition.js';
import type { Binding } from '../state/deployment-state.js';
import type { Offer } from './pay-first.js';

/** One request to execute an event, whoever makes it. */
export interface ExecutionRequest {
  readonly deploymentId: number;
  readonly event: string;
  readonly input: JsonObject;
  readonly trigger: ExecutionTrigger;
  /** The wallet that signed the request; null outside `/app`. */
  readonly walletAddress: string | null;
  /** Of a service: what it knows to be bound. Anything else is refused. */
  readonly expected?: ExpectedBinding | null;
  /** Of a wallet: the payment that it offers, and the address of the call that it pays for. */
  readonly offer?: Offer;
}

/** What a request executes: the event's binding and the definition of the bound version. */
export interface Resolved {
  readonly binding: Binding;
  readonly definition: CompiledDefinition;
}

/** The definition that the catalog confirmed for a bound version; `undefined`: the catalog has none. */
export type Confirmed =
  | {
      readonly versionId: number;
      readonly definition: CompiledDefinition | undefined;
      /** The deployment was locked before the catalog was called. */
      readonly afterLock: boolean;
    }
  | undefined;
