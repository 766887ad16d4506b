import {
  type CallContext,
  didYouMean,
  fieldProblem,
  type InstanceRecord,
  type JournalKind,
  type JsonObject,
  ServiceError,
} from '@orrery/contracts';
import { tooManyInstances } from '../../core/deciding/check-changes.js';
import type { CompiledSchema } from '../../core/deciding/execution.js';
import { lifecycleEntry } from '../../core/deciding/lifecycle-entry.js';
import { decideManualWrite } from '../../core/deciding/manual-write.js';
import type { InstanceName } from '../../core/entries/entry.js';
import type { CatalogClient } from '../../lane/catalog/catalog-client.js';
import type { ItemOutcome, WorkItem } from '../../lane/items/work-item.js';
import {
  type KnownDeployment,
  type RuntimeLimits,
  refuseLocked,
} from '../../store/deployments/deployment-directory.js';
import {
  type InstancePath,
  inBody,
  onlySchema,
  refuseOtherRevision,
  schemasWith,
  toRecord,
} from '../../store/deployments/instance-store.js';
import type { DeploymentState } from '../../store/state/deployment-state.js';
import type { MemoryInstance } from '../../store/state/instance-memory.js';
import type { Db } from '../../store/tables/schema.js';

export interface WriteDependencies {
  readonly db: Db;
  readonly catalog: Pick<CatalogClient, 'schema' | 'schemaNames'>;
  readonly limits: RuntimeLimits;
}

interface Write {
  readonly kind: JournalKind;
  readonly name: InstanceName;
  readonly schema: CompiledSchema;
  readonly before: MemoryInstance | null;
  /** Null deletes. */
  readonly after: JsonObject | null;
}

function written(
  state: DeploymentState,
  { caller }: CallContext,
  now: number,
  { kind, name, schema, before, after }: Write,
  limits: RuntimeLimits,
): ItemOutcome<InstanceRecord> {
  const changes = inBody(() => decideManualWrite(schema, name.instanceId, before, after, limits));
  const entry = lifecycleEntry(kind, state.row.address, caller, now, {}, changes);
  return {
    kind: 'commit',
    effects: { entry },
    answer: () => {
      const instance = state.instances.get(name.entitySchema, name.instanceId) ?? before;
      if (!instance) throw new Error('the written instance is not in memory');
      return { reply: toRecord(name, instance) };
    },
  };
}

/** @throws `unknown_entity_schema`, `entity_instance_exists`, `limit_reached`, `invalid_state`, `deployment_locked` */
export function createItem(
  { catalog, limits }: WriteDependencies,
  deployment: KnownDeployment,
  call: CallContext,
  { state: given, ...name }: InstanceName & { state: JsonObject },
): WorkItem<InstanceRecord> {
  let schema: CompiledSchema | undefined;
  let known: readonly string[] = [];
  return {
    deploymentId: deployment.id,
    deadline: call.deadline,
    signal: call.signal,
    prepare: async () => {
      schema = await catalog.schema(deployment.worldId, name.entitySchema);
      if (schema === undefined) known = await catalog.schemaNames(deployment.worldAddress, call);
    },
    decide: (state, _ids, now) => {
      refuseLocked(state.row);
      if (schema === undefined) throw unknownSchema(name.entitySchema, known);
      const before = state.instances.get(name.entitySchema, name.instanceId);
      if (before === undefined) return { kind: 'needs', needs: { instances: [name] } };
      if (before !== null) throw alreadyThere(name);
      const { instancesPerDeployment: limit } = limits;
      if ((state.head.totals['instances'] ?? 0) + state.runs.room >= limit) throw tooManyInstances(limit);
      return written(
        state,
        call,
        now,
        { kind: 'instance_created', name, schema, before, after: given },
        limits,
      );
    },
  };
}

const alreadyThere = ({ entitySchema, instanceId }: InstanceName): ServiceError =>
  new ServiceError('entity_instance_exists', `The instance "${entitySchema}:${instanceId}" exists already.`);

function unknownSchema(name: string, known: readonly string[]): ServiceError {
  const message = `The world has no entity schema "${name}".${didYouMean(name, known)}`;
  return new ServiceError('unknown_entity_schema', message, {
    errors: [fieldProblem('/entitySchema', 'unknown_entity_schema', message)],
  });
}

/** `state` null deletes. @throws `entity_instance_not_found`, `ambiguous_instance`, `revision_mismatch` and others */
export function changeItem(
  { db, catalog, limits }: WriteDependencies,
  deployment: KnownDeployment,
  call: CallContext,
  path: InstancePath,
  { state: after, ifMatch }: { state: JsonObject | null; ifMatch?: string | undefined },
): WorkItem<InstanceRecord> {
  let candidates: string[] = [];
  let schema: CompiledSchema | undefined;
  return {
    deploymentId: deployment.id,
    deadline: call.deadline,
    signal: call.signal,
    prepare: async (state) => {
      candidates = await candidatesFor(db, state, path);
      const [first] = candidates;
      if (first !== undefined) schema = await catalog.schema(deployment.worldId, first);
    },
    decide: (state, _ids, now) => {
      refuseLocked(state.row);
      const { instanceId } = path;
      const missing = candidates.filter((one) => state.instances.get(one, instanceId) === undefined);
      if (missing.length > 0) {
        return {
          kind: 'needs',
          needs: { instances: missing.map((entitySchema) => ({ entitySchema, instanceId })) },
        };
      }
      const entitySchema = onlySchema(presentIn(state, candidates, path), path);
      const before = state.instances.get(entitySchema, instanceId);
      if (!before) return { kind: 'prepare' };
      refuseOtherRevision(ifMatch, before.revision);
      if (schema?.definition.name !== entitySchema) return { kind: 'prepare' };
      const kind = after === null ? 'instance_deleted' : 'instance_updated';
      const write = { kind, name: { entitySchema, instanceId }, schema, before, after } as const;
      return written(state, call, now, write, limits);
    },
  };
}

async function candidatesFor(
  db: Db,
  state: DeploymentState,
  { instanceId, entitySchema }: InstancePath,
): Promise<string[]> {
  if (entitySchema !== undefined) return [entitySchema];
  return [
    ...new Set([
      ...(await schemasWith(db, state.id, instanceId)),
      ...state.instances.schemasWith(instanceId),
    ]),
  ];
}

function presentIn(
  { instances }: DeploymentState,
  candidates: readonly string[],
  { instanceId, entitySchema }: InstancePath,
): string[] {
  const known = entitySchema === undefined ? instances.schemasWith(instanceId) : [];
  return [...new Set([...candidates, ...known])].filter((one) => instances.get(one, instanceId));
}
