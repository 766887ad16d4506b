import type { JournalKind, JsonObject } from '@orrery/contracts';
import type { Step } from './command.js';
import {
  enter,
  type Foretold,
  fine,
  isValid,
  type ModelDeployment,
  type ModelInstance,
  type ModelWorld,
  refused,
  shownDifference,
  withDefaults,
} from './model.js';

type Of<Kind extends Step['kind']> = Extract<Step, { kind: Kind }>;

const locked = refused(409, 'deployment_locked');

export function foretellCreate(
  { schemas }: ModelWorld,
  deployment: ModelDeployment,
  { schema: name, id, state: given }: Of<'create'>,
): Foretold {
  if (deployment.isLocked) return locked;
  const schema = schemas.get(name);
  if (schema === undefined) return refused(400, 'unknown_entity_schema');
  const key = `${name}:${id}`;
  if (deployment.instances.has(key)) return refused(409, 'entity_instance_exists');
  const state = withDefaults(schema, given);
  if (!isValid(schema, state)) return refused(400, 'invalid_state');
  put(deployment, 'instance_created', key, state, state);
  return fine({ entitySchema: name, instanceId: id, state, revision: 1 }, 201);
}

export function foretellReplace(
  { schemas }: ModelWorld,
  deployment: ModelDeployment,
  step: Of<'replace'>,
): Foretold {
  if (deployment.isLocked) return locked;
  const found = find(deployment, step);
  if ('status' in found) return found;
  const { key, instance, schema: name } = found;
  if (step.match === 'wrong') return refused(412, 'revision_mismatch');
  const schema = schemas.get(name);
  if (schema === undefined || !isValid(schema, step.state)) return refused(400, 'invalid_state');
  put(deployment, 'instance_updated', key, step.state, shownDifference(instance.state, step.state));
  return fine({
    entitySchema: name,
    instanceId: step.id,
    state: step.state,
    revision: instance.revision + 1,
  });
}

export function foretellRemove(deployment: ModelDeployment, step: Of<'remove'>): Foretold {
  if (deployment.isLocked) return locked;
  const found = find(deployment, step);
  if ('status' in found) return found;
  const after = new Map(deployment.instances);
  after.delete(found.key);
  enter(deployment, 'instance_deleted', { stateChanges: { [found.key]: null } }, after);
  return fine({ deleted: true });
}

/** Looks at an instance as it was so many entries ago. */
export function foretellLook({ entries }: ModelDeployment, { schema, id, back }: Of<'look'>): Foretold {
  const instance = entries[seqBack(entries.length, back) - 1]?.after.get(`${schema}:${id}`);
  if (instance === undefined) return refused(404, 'entity_instance_not_found');
  return fine({ entitySchema: schema, instanceId: id, state: instance.state, revision: instance.revision });
}

export const seqBack = (entries: number, back: number): number => Math.max(1, entries - back);

interface Found {
  key: string;
  schema: string;
  instance: ModelInstance;
}

function find({ instances }: ModelDeployment, step: { schema: string | null; id: string }): Found | Foretold {
  const schemas = step.schema === null ? ['ship', 'port'] : [step.schema];
  const found = schemas.flatMap((schema) => {
    const instance = instances.get(`${schema}:${step.id}`);
    return instance === undefined ? [] : [{ key: `${schema}:${step.id}`, schema, instance }];
  });
  const [only, ...others] = found;
  if (only === undefined) return refused(404, 'entity_instance_not_found');
  return others.length === 0 ? only : refused(409, 'ambiguous_instance');
}

function put(
  deployment: ModelDeployment,
  kind: JournalKind,
  key: string,
  state: JsonObject,
  shown: JsonObject,
): void {
  const revision = (deployment.instances.get(key)?.revision ?? 0) + 1;
  const after = new Map(deployment.instances).set(key, { state, revision });
  enter(deployment, kind, { stateChanges: { [key]: shown } }, after);
}
