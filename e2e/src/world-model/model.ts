import type { JournalKind, JsonObject, JsonValue } from '@orrery/contracts';
import type { SchemaPlan, VersionPlan, WorldPlan } from './plan.js';

export interface ModelInstance {
  state: JsonObject;
  revision: number;
}

/** `schema:instanceId` → instance. Never changed in place. */
export type ModelInstances = ReadonlyMap<string, ModelInstance>;

/** A journal entry as far as the model foretells it; its place in the list is its `seq`. */
export interface ModelEntry {
  kind: JournalKind;
  event: string | null;
  eventVersion: number | null;
  status: 'succeeded' | 'failed' | null;
  code: string | null;
  stateChanges: Record<string, JsonObject | null>;
  /** The instances after it. */
  after: ModelInstances;
}

/** What the service has to answer; `data` only where the model knows it. */
export interface Foretold {
  status: number;
  code: string | null;
  data?: JsonValue;
}

export interface ModelDeployment {
  name: string;
  isDeleted: boolean;
  isLocked: boolean;
  isPaused: boolean;
  isPublic: boolean;
  bindings: Map<string, number>;
  instances: ModelInstances;
  entries: ModelEntry[];
  keys: Map<string, { request: string; answer: Foretold }>;
}

export interface ModelVersion {
  plan: VersionPlan;
  isLocked: boolean;
}

export interface ModelWorld {
  schemas: ReadonlyMap<string, SchemaPlan>;
  events: ReadonlyMap<string, ModelVersion[]>;
  deployments: ModelDeployment[];
}

export const modelOf = ({ schemas, events }: WorldPlan): ModelWorld => ({
  schemas: new Map(schemas.map((schema) => [schema.name, schema])),
  events: new Map(
    Object.entries(events).map(([event, plans]) => [event, plans.map((plan) => ({ plan, isLocked: false }))]),
  ),
  deployments: [],
});

export const versionOf = (world: ModelWorld, event: string, version: number): ModelVersion | undefined =>
  world.events.get(event)?.[version - 1];

export const fine = (data?: JsonValue, status = 200): Foretold =>
  data === undefined ? { status, code: null } : { status, code: null, data };
export const refused = (status: number, code: string): Foretold => ({ status, code });

/** Adds an entry; without instances they stay as they are. */
export function enter(
  deployment: ModelDeployment,
  kind: JournalKind,
  parts: Partial<Omit<ModelEntry, 'kind' | 'after'>> = {},
  after: ModelInstances = deployment.instances,
): void {
  deployment.instances = after;
  const entry = { event: null, eventVersion: null, status: null, code: null, stateChanges: {} };
  deployment.entries.push({ ...entry, ...parts, kind, after });
}
