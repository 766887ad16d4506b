import { canonicalJson, type JournalKind, type JsonObject, type JsonValue } from '@orrery/contracts';
import type { Kind, Of } from './arbitrary-command.js';
import type { AttributePlan, SchemaPlan, VersionPlan, WorldPlan } from './plan.js';

export interface ModelInstance {
  state: JsonObject;
  revision: number;
}

/** `schema:instanceId` → instance. Never changed in place. */
export type ModelInstances = ReadonlyMap<string, ModelInstance>;

/** A journal entry as far as the model foretells it; its position in the list is its `seq`. */
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
export const LOCKED = refused(409, 'deployment_locked');

/** For each kind of step what the service has to answer; the model then stands where the service has to. */
export type Rules = {
  readonly [One in Kind]: (world: ModelWorld, deployment: ModelDeployment, step: Of<One>) => Foretold;
};

/** The `seq` of so many entries ago. */
export const seqBack = (entries: number, back: number): number => Math.max(1, entries - back);

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

export function withDefaults({ attributes }: SchemaPlan, state: JsonObject): JsonObject {
  const missing = attributes.filter(({ name, defaultValue }) => defaultValue !== null && !(name in state));
  return { ...state, ...Object.fromEntries(missing.map(({ name, defaultValue }) => [name, defaultValue])) };
}

export const isValid = ({ attributes }: SchemaPlan, state: JsonObject): boolean =>
  attributes.every((attribute) => fits(attribute, state[attribute.name] ?? null));

function fits({ type, constraints }: AttributePlan, value: JsonValue): boolean {
  if (value === null) return constraints.required !== true;
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = constraints;
  switch (type) {
    case 'integer':
      return Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max;
    case 'float':
      return typeof value === 'number' && value >= min && value <= max;
    case 'string':
      return (
        typeof value === 'string' &&
        (constraints.enum?.includes(value) ?? true) &&
        new RegExp(constraints.pattern ?? '').test(value)
      );
    case 'boolean':
      return typeof value === 'boolean';
    case 'json':
      return true;
  }
}

/** What an entry shows of an update: what was named or differs, and null for what is gone. */
export function shownDifference(
  before: JsonObject,
  after: JsonObject,
  named: ReadonlySet<string> = new Set(),
): JsonObject {
  const shown: JsonObject = {};
  for (const [name, value] of Object.entries(after)) {
    const before_ = before[name];
    if (before_ === undefined || named.has(name) || canonicalJson(before_) !== canonicalJson(value))
      shown[name] = value;
  }
  for (const name of Object.keys(before)) if (!(name in after)) shown[name] = null;
  return shown;
}
