import {
  accountOf,
  type CallContext,
  childPointer,
  closest,
  didYouMean,
  fieldProblem,
  type Handlers,
  type InstanceRecord,
  type instanceRpcs,
  type JournalKind,
  type JsonObject,
  paginationOf,
  type queryRpcs,
  refuseDeepPage,
  type Said,
  ServiceError,
  withWarnings,
  writeInstead,
} from '@orrery/contracts';
import { keyedRequest } from '@orrery/database';
import { type CompiledSchema, type InstanceName, tooManyInstances } from '@orrery/deciding';
import { lifecycleEntry } from '../../core/deciding/lifecycle-entry.js';
import { decideManualWrite } from '../../core/deciding/manual-write.js';
import { keyedItem } from '../../lane/items/once-item.js';
import type { ItemOutcome, WorkItem } from '../../lane/items/work-item.js';
import type { OwnedHandlers } from '../../lane/ownership/route-to-owner.js';
import {
  type KnownDeployment,
  notFound,
  refuseLocked,
} from '../../store/deployments/deployment-directory.js';
import {
  createReadCurrent,
  type InstancePath,
  inBody,
  instanceNotFound,
  listInstances,
  onlySchema,
  recordOf,
  refuseOtherRevision,
  schemasWith,
  toRecord,
} from '../../store/deployments/instance-store.js';
import { instanceAt, instancesAt } from '../../store/deployments/past-instances.js';
import { readPast } from '../../store/journal/verify/verify-journal.js';
import type { DeploymentState } from '../../store/state/deployment-state.js';
import type { MemoryInstance } from '../../store/state/instance-memory.js';
import { releaseEmptySchema } from '../claims/claims.js';
import type { RuntimeContext } from '../context.js';
import { isQuery, queryInstances, queryReads } from './queries.js';
import { adviceOn } from './query-advice.js';
import { createRunQuery } from './run-query.js';

type Rpcs = typeof instanceRpcs;
type Reads = Pick<Rpcs, 'instances.list' | 'instances.get'>;
type AllReads = Reads & typeof queryRpcs;

const pathOf = (
  { instanceId }: { instanceId: string },
  { entitySchema }: { entitySchema?: string | undefined },
): InstancePath => ({ instanceId, entitySchema });

export function instanceReads(context: RuntimeContext): Handlers<AllReads> {
  const { db, access, directory, reading } = context;
  const readCurrent = createReadCurrent(db);
  const runQuery = createRunQuery(context);
  return {
    ...queryReads(context, runQuery),
    'instances.list': async ({ params, query: asked }, call) => {
      const { caller, signal, deadline } = call;
      if (isQuery(asked)) {
        const deployment = await reading.run(signal, () => access.see(params, caller));
        const found = await queryInstances(context, runQuery, deployment, asked, call);
        return { ...found, ...(await adviceOn(context, deployment, asked, call)) };
      }
      const { page = 1, limit, entitySchema, atSeq } = asked;
      const query = { page, limit };
      refuseDeepPage(query);
      if (atSeq === undefined) {
        const [deployment, { rows, total, isMinimum }] = await reading.run(signal, async () => {
          const visible = await access.see(params, caller);
          return [visible, await listInstances(db, visible.id, entitySchema, query)] as const;
        });
        const pagination = {
          ...paginationOf(query, total),
          ...(isMinimum && { totalIsMinimum: true as const }),
        };
        const advice = total > 0 ? {} : await adviceOn(context, deployment, asked, call);
        return { data: rows.map(recordOf), pagination, ...advice };
      }
      const seen = await reading.run(signal, () => access.see(params, caller));
      const past = { entitySchema, seq: atSeq, page: query };
      const { data, total } = await readPast(context, seen, atSeq, { signal, deadline }, () =>
        instancesAt(context, seen.id, past, signal),
      );
      return { data, pagination: paginationOf(query, total) };
    },
    'instances.get': async ({ params, query }, { caller, signal, deadline }) => {
      const path = pathOf(params, query);
      const { atSeq } = query;
      if (atSeq !== undefined) {
        const seen = await reading.run(signal, () => access.see(params, caller));
        const past = () => reading.run(signal, () => instanceAt(db, seen.id, path, atSeq));
        return withTag(await readPast(context, seen, atSeq, { signal, deadline }, past));
      }
      const deployment = await directory.find(params);
      const current = deployment && (await readCurrent({ ...path, deploymentId: deployment.id }));
      const isOwner = deployment?.ownerAccountId === accountOf(caller);
      if (current === undefined || !(current.isPublic || isOwner)) throw notFound();
      if (current.instance === undefined) throw instanceNotFound(path);
      return withTag(recordOf(current.instance));
    },
  };
}

const withTag = (data: InstanceRecord) => ({ data, etag: String(data.revision) });

/**
 * What a write says of attributes that are likely misspelt: a state may hold some that its schema does not name. The write
 * stands, so without the catalog nothing is said.
 */
async function warningsOn(
  { catalog }: RuntimeContext,
  { worldId }: KnownDeployment,
  { entitySchema }: InstanceRecord,
  sent: JsonObject,
): Promise<Said> {
  const schema = await catalog.schema(worldId, entitySchema).catch(() => undefined);
  const known = schema?.definition.attributes.map(({ name }) => name) ?? [];
  const misspelt = Object.keys(sent).flatMap((name) => {
    const meant = closest(name, known);
    const message = `The entity schema "${entitySchema}" has no attribute "${name}". Did you mean "${meant}"?`;
    return meant === undefined
      ? []
      : [fieldProblem(childPointer('/state', name), 'unknown_attribute', message, writeInstead(meant))];
  });
  return withWarnings(misspelt);
}

export function instanceWrites(context: RuntimeContext): OwnedHandlers<Omit<Rpcs, keyof Reads>> {
  const { db, lanes, clock } = context;
  return {
    'instances.create': async (deployment, { headers, body }, call) => {
      const operation = `create instance ${deployment.id}`;
      const keyed = keyedRequest(operation, headers['idempotency-key'], body, call.caller, clock.now());
      const item = createItem(context, deployment, call, body);
      const created = await lanes.submit(keyedItem(db, item, keyed));
      return { ...withTag(created), ...(await warningsOn(context, deployment, created, body.state)) };
    },
    'instances.update': async (deployment, { params, query, headers, body }, call) => {
      const change = { state: body.state, ifMatch: headers['if-match'] };
      const item = changeItem(context, deployment, call, pathOf(params, query), change);
      const changed = await lanes.submit(item);
      return { ...withTag(changed), ...(await warningsOn(context, deployment, changed, body.state)) };
    },
    'instances.delete': async (deployment, { params, query, headers }, call) => {
      const change = { state: null, ifMatch: headers['if-match'] };
      const item = changeItem(context, deployment, call, pathOf(params, query), change);
      const gone = await lanes.submit(item);
      await releaseEmptySchema(context, deployment, gone.entitySchema, call);
      return { data: { deleted: true } };
    },
  };
}

interface Write {
  readonly kind: JournalKind;
  readonly name: InstanceName;
  readonly schema: CompiledSchema;
  readonly before: MemoryInstance | null;
  /** Null deletes. */
  readonly after: JsonObject | null;
}

export function written(
  state: DeploymentState,
  { caller }: CallContext,
  now: number,
  { kind, name, schema, before, after }: Write,
  limits: RuntimeContext['limits'],
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
  { catalog, limits }: RuntimeContext,
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
      const write = { kind: 'instance_created', name, schema, before, after: given } as const;
      return written(state, call, now, write, limits);
    },
  };
}

const alreadyThere = ({ entitySchema, instanceId }: InstanceName): ServiceError =>
  new ServiceError('entity_instance_exists', `The instance "${entitySchema}:${instanceId}" exists already.`);

export function unknownSchema(name: string, known: readonly string[]): ServiceError {
  const message = `The world has no entity schema "${name}".${didYouMean(name, known)}`;
  return new ServiceError('unknown_entity_schema', message, {
    errors: [fieldProblem('/entitySchema', 'unknown_entity_schema', message)],
  });
}

/** `state` null deletes; a function makes it of the present one. @throws `entity_instance_not_found`, `ambiguous_instance`, `revision_mismatch` and others */
export function changeItem(
  { db, catalog, limits }: RuntimeContext,
  deployment: KnownDeployment,
  call: CallContext,
  path: InstancePath,
  { state: wanted, ifMatch }: { state: WantedState; ifMatch?: string | undefined },
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
      const needs = { instances: missing.map((entitySchema) => ({ entitySchema, instanceId })) };
      if (missing.length > 0) return { kind: 'needs', needs };
      const entitySchema = onlySchema(presentIn(state, candidates, path), path);
      const before = state.instances.get(entitySchema, instanceId);
      if (!before) return { kind: 'prepare' };
      refuseOtherRevision(ifMatch, before.revision);
      if (schema?.definition.name !== entitySchema) return { kind: 'prepare' };
      const after = typeof wanted === 'function' ? wanted(before.state) : wanted;
      const kind = after === null ? 'instance_deleted' : 'instance_updated';
      const write = { kind, name: { entitySchema, instanceId }, schema, before, after } as const;
      return written(state, call, now, write, limits);
    },
  };
}

/** Null: none, the instance is deleted. */
type WantedState = JsonObject | null | ((before: JsonObject) => JsonObject);

async function candidatesFor(
  db: RuntimeContext['db'],
  state: DeploymentState,
  { instanceId, entitySchema }: InstancePath,
): Promise<string[]> {
  if (entitySchema !== undefined) return [entitySchema];
  const stored = await schemasWith(db, state.id, instanceId);
  return [...new Set([...stored, ...state.instances.schemasWith(instanceId)])];
}

function presentIn(
  { instances }: DeploymentState,
  candidates: readonly string[],
  { instanceId, entitySchema }: InstancePath,
): string[] {
  const known = entitySchema === undefined ? instances.schemasWith(instanceId) : [];
  return [...new Set([...candidates, ...known])].filter((one) => instances.get(one, instanceId));
}
