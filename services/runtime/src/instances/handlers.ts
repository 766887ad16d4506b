import {
  accountOf,
  type CallContext,
  type Handlers,
  type InstanceRecord,
  type instanceRpcs,
  paginationOf,
  refuseDeepPage,
} from '@orrery/contracts';
import { keyedRequest } from '@orrery/database';
import type { Clock, Semaphore } from '@orrery/service-kit';
import type { Db } from '../database/db.js';
import type {
  DeploymentAccess,
  DeploymentDirectory,
  KnownDeployment,
} from '../deployments/deployment-directory.js';
import { notFound } from '../deployments/deployment-rules.js';
import type { OwnedHandlers } from '../deployments/owned-handlers.js';
import { keyedItem } from '../idempotency/keyed-item.js';
import type { Lanes } from '../lanes/lanes.js';
import { instanceNotFound } from './instance-rules.js';
import { listInstances, recordOf } from './instance-store.js';
import { instanceAt } from './past-instance.js';
import { createReadCurrent } from './read-current.js';
import { changeItem, createItem, type InstancePath, type WriteDependencies } from './write-items.js';

type Rpcs = typeof instanceRpcs;
type Reads = Pick<Rpcs, 'instances.list' | 'instances.get'>;
export type InstanceWrites = Omit<Rpcs, keyof Reads>;

export interface InstanceDependencies extends WriteDependencies {
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
): InstancePath => ({
  instanceId: instanceId.normalize('NFC'),
  entitySchema: entitySchema?.normalize('NFC'),
});

export interface InstanceReadDependencies {
  readonly db: Db;
  readonly access: Pick<DeploymentAccess, 'visible' | 'see'>;
  readonly directory: Pick<DeploymentDirectory, 'find'>;
  /** Bounds how many reads run at once. */
  readonly reading: Semaphore;
}

export function instanceReads({ db, access, directory, reading }: InstanceReadDependencies): Handlers<Reads> {
  const readCurrent = createReadCurrent(db);
  return {
    'instances.list': ({ params, query }, { caller, signal }) =>
      reading.run(signal, async () => {
        refuseDeepPage(query);
        const { id } = await access.see(params, caller);
        const { rows, total, isMinimum } = await listInstances(
          db,
          id,
          query.entitySchema?.normalize('NFC'),
          query,
        );
        const pagination = paginationOf(query, total);
        return {
          data: rows.map(recordOf),
          pagination: isMinimum ? { ...pagination, totalIsMinimum: true } : pagination,
        };
      }),
    'instances.get': async ({ params, query }, { caller, signal }) => {
      const path = pathOf(params, query);
      const { atSeq } = query;
      if (atSeq !== undefined) {
        const past = async () => instanceAt(db, (await access.see(params, caller)).id, path, atSeq);
        return withTag(await reading.run(signal, past));
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
      return withTag(await lanes.submit(keyedItem(dependencies.db, item, keyed)));
    },
    'instances.update': async (deployment, { params, query, headers, body }, call) => {
      const change = { state: body.state, ifMatch: headers['if-match'] };
      return withTag(
        await lanes.submit(changeItem(dependencies, deployment, call, pathOf(params, query), change)),
      );
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
