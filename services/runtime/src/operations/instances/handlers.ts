import {
  accountOf,
  type CallContext,
  childPointer,
  closest,
  fieldProblem,
  type Handlers,
  type InstanceRecord,
  type instanceRpcs,
  type JsonObject,
  type PageQuery,
  paginationOf,
  refuseDeepPage,
  withWarnings,
} from '@orrery/contracts';
import { keyedRequest } from '@orrery/database';
import type { Clock } from '@orrery/service-kit';
import { keyedItem } from '../../lane/items/once-item.js';
import type { OwnedHandlers } from '../../lane/ownership/route-to-owner.js';
import type { Lanes } from '../../lane/queue/lanes.js';
import {
  type DeploymentAccess,
  type DeploymentDirectory,
  type KnownDeployment,
  notFound,
} from '../../store/deployments/deployment-directory.js';
import {
  createReadCurrent,
  type InstancePath,
  instanceNotFound,
  listInstances,
  recordOf,
} from '../../store/deployments/instance-store.js';
import {
  instanceAt,
  instancesAt,
  type PastListDependencies,
} from '../../store/deployments/past-instances.js';
import { type BrokenHistoryDependencies, readPast } from '../../store/journal/verify/verify-journal.js';
import type { Db } from '../../store/tables/schema.js';
import { changeItem, createItem, type WriteDependencies } from './write-items.js';

type Rpcs = typeof instanceRpcs;
type Reads = Pick<Rpcs, 'instances.list' | 'instances.get'>;
type InstanceWrites = Omit<Rpcs, keyof Reads>;

interface InstanceDependencies extends WriteDependencies {
  readonly access: Pick<DeploymentAccess, 'visible'>;
  readonly lanes: Pick<Lanes, 'submit'>;
  readonly clock: Clock;
  /** After a deletion: releases the claim on a schema that has no instances left. */
  readonly releaseEmptySchema: (
    deployment: KnownDeployment,
    schema: string,
    call: CallContext,
  ) => Promise<void>;
}

const pathOf = (
  { instanceId }: { instanceId: string },
  { entitySchema }: { entitySchema?: string | undefined },
): InstancePath => ({ instanceId, entitySchema });

interface InstanceReadDependencies extends PastListDependencies, BrokenHistoryDependencies {
  readonly access: Pick<DeploymentAccess, 'visible' | 'see'>;
  readonly directory: Pick<DeploymentDirectory, 'find'>;
}

export function instanceReads(dependencies: InstanceReadDependencies): Handlers<Reads> {
  const { db, access, directory, reading } = dependencies;
  const readCurrent = createReadCurrent(db);
  return {
    'instances.list': async ({ params, query }, { caller, signal, deadline }) => {
      refuseDeepPage(query);
      const { entitySchema } = query;
      if (query.atSeq === undefined) {
        const id = async () => (await access.see(params, caller)).id;
        return reading.run(signal, async () => currentList(db, await id(), entitySchema, query));
      }
      const seen = await reading.run(signal, () => access.see(params, caller));
      const past = { entitySchema, seq: query.atSeq, page: query };
      const { data, total } = await readPast(dependencies, seen, past.seq, { signal, deadline }, () =>
        instancesAt(dependencies, seen.id, past, signal),
      );
      return { data, pagination: paginationOf(query, total) };
    },
    'instances.get': async ({ params, query }, { caller, signal, deadline }) => {
      const path = pathOf(params, query);
      const { atSeq } = query;
      if (atSeq !== undefined) {
        const seen = await reading.run(signal, () => access.see(params, caller));
        const past = () => reading.run(signal, () => instanceAt(db, seen.id, path, atSeq));
        return withTag(await readPast(dependencies, seen, atSeq, { signal, deadline }, past));
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

async function currentList(db: Db, deploymentId: number, entitySchema: string | undefined, query: PageQuery) {
  const { rows, total, isMinimum } = await listInstances(db, deploymentId, entitySchema, query);
  const pagination = paginationOf(query, total);
  return {
    data: rows.map(recordOf),
    pagination: isMinimum ? { ...pagination, totalIsMinimum: true as const } : pagination,
  };
}

const withTag = (data: InstanceRecord) => ({ data, etag: String(data.revision) });

/**
 * What a write says of attributes that are likely misspelt: a state may hold some that its schema does not name. The write
 * stands, so without the catalog nothing is said.
 */
async function messageOn(
  { catalog }: Pick<WriteDependencies, 'catalog'>,
  { worldId }: KnownDeployment,
  { entitySchema }: InstanceRecord,
  sent: JsonObject,
): Promise<string | undefined> {
  const schema = await catalog.schema(worldId, entitySchema).catch(() => undefined);
  const known = schema?.definition.attributes.map(({ name }) => name) ?? [];
  const misspelt = Object.keys(sent).flatMap((name) => {
    const meant = closest(name, known);
    const message = `The entity schema "${entitySchema}" has no attribute "${name}". Did you mean "${meant}"?`;
    return meant === undefined
      ? []
      : [fieldProblem(childPointer('/state', name), 'unknown_attribute', message)];
  });
  return withWarnings(misspelt);
}

export function instanceWrites(dependencies: InstanceDependencies): OwnedHandlers<InstanceWrites> {
  const { lanes, releaseEmptySchema } = dependencies;
  return {
    'instances.create': async (deployment, { headers, body }, call) => {
      const operation = `create instance ${deployment.id}`;
      const keyed = keyedRequest(
        operation,
        headers['idempotency-key'],
        body,
        call.caller,
        dependencies.clock.now(),
      );
      const item = createItem(dependencies, deployment, call, body);
      const created = await lanes.submit(keyedItem(dependencies.db, item, keyed));
      return { ...withTag(created), message: await messageOn(dependencies, deployment, created, body.state) };
    },
    'instances.update': async (deployment, { params, query, headers, body }, call) => {
      const change = { state: body.state, ifMatch: headers['if-match'] };
      const item = changeItem(dependencies, deployment, call, pathOf(params, query), change);
      const changed = await lanes.submit(item);
      return { ...withTag(changed), message: await messageOn(dependencies, deployment, changed, body.state) };
    },
    'instances.delete': async (deployment, { params, query, headers }, call) => {
      const change = { state: null, ifMatch: headers['if-match'] };
      const gone = await lanes.submit(
        changeItem(dependencies, deployment, call, pathOf(params, query), change),
      );
      await releaseEmptySchema(deployment, gone.entitySchema, call);
      return { data: { deleted: true } };
    },
  };
}
