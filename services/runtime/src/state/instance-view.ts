import type { JsonObject } from '@orrery/contracts';
import type { InstanceName } from '../journal/change.js';

/** An instance in the state that the previous item in its deployment's lane left. Never changed in place. */
export interface InstanceState {
  readonly state: JsonObject;
  readonly revision: number;
}

/** One execution reads at most this many instances, including absent ones that it names. */
export const MAX_READ = 500;

/** Those instances of the deployment that are in memory. */
export interface InstanceView {
  /** `undefined`: not in memory yet; `null`: known to be absent. */
  get(entitySchema: string, instanceId: string): InstanceState | null | undefined;
  /** All instances of a schema by instanceId; `undefined` unless memory is known to hold all of them. */
  all(entitySchema: string): ReadonlyMap<string, InstanceState> | undefined;
  /** Whether the schema is known to have more instances than one execution may read. */
  tooMany(entitySchema: string): boolean;
}

/** What has to be loaded into memory before a decision is possible. */
export interface Needs {
  instances: InstanceName[];
  schemas: string[];
}
