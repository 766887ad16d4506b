import type { JournalKind, JsonObject } from '@orrery/contracts';
import {
  enter,
  type Foretold,
  fine,
  isValid,
  LOCKED,
  type ModelDeployment,
  type ModelInstance,
  type Rules,
  refused,
  seqBack,
  shownDifference,
  withDefaults,
} from './model.js';

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

/** What reads and writes instances by hand. */
export const WRITES = {
  create: ({ schemas }, deployment, { schema: name, id, state: given }) => {
    if (deployment.isLocked) return LOCKED;
    const schema = schemas.get(name);
    if (schema === undefined) return refused(400, 'unknown_entity_schema');
    const key = `${name}:${id}`;
    if (deployment.instances.has(key)) return refused(409, 'entity_instance_exists');
    const state = withDefaults(schema, given);
    if (!isValid(schema, state)) return refused(400, 'invalid_state');
    put(deployment, 'instance_created', key, state, state);
    return fine({ entitySchema: name, instanceId: id, state, revision: 1 }, 201);
  },
  replace: ({ schemas }, deployment, step) => {
    if (deployment.isLocked) return LOCKED;
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
  },
  remove: (_world, deployment, step) => {
    if (deployment.isLocked) return LOCKED;
    const found = find(deployment, step);
    if ('status' in found) return found;
    const after = new Map(deployment.instances);
    after.delete(found.key);
    enter(deployment, 'instance_deleted', { stateChanges: { [found.key]: null } }, after);
    return fine({ deleted: true });
  },
  /** Looks at an instance as it was so many entries ago. */
  look: (_world, { entries }, { schema, id, back }) => {
    const instance = entries[seqBack(entries.length, back) - 1]?.after.get(`${schema}:${id}`);
    if (instance === undefined) return refused(404, 'entity_instance_not_found');
    return fine({ entitySchema: schema, instanceId: id, state: instance.state, revision: instance.revision });
  },
} satisfies Partial<Rules>;
