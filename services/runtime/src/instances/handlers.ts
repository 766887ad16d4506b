import {
  type CallContext,
  type Handlers,
  type InstanceRecord,
  type instanceRpcs,
  paginationOf,
  refuseDeepPage,
  ServiceError,
} from '@orrery/contracts';
import { keyedRequest } from '@orrery/database';
import type { Clock } from '@orrery/service-kit';
import type { DeploymentAccess, KnownDeployment } from '../deployments/deployment-directory.js';
import type { OwnedHandlers } from '../deployments/owned-handlers.js';
import { keyedItem } from '../idempotency/keyed-item.js';
import type { Lanes } from '../lanes/lanes.js';
import { onlySchema } from './instance-rules.js';
import { findInstance, listInstances, recordOf, schemasWith } from './instance-store.js';
import { instanceAt } from './past-instance.js';
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

export function instanceReads({ db, access }: Pick<InstanceDependencies, 'db' | 'access'>): Handlers<Reads> {
  return {
    'instances.list': async ({ params, query }, { caller }) => {
      refuseDeepPage(query);
      const { id } = await access.visible(params, caller);
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
    },
    'instances.get': async ({ params, query }, { caller }) => {
      const { id } = await access.visible(params, caller);
      const { instanceId, entitySchema } = pathOf(params, query);
      if (query.atSeq !== undefined) {
        return withTag(await instanceAt(db, id, { instanceId, entitySchema }, query.atSeq));
      }
      const schema = entitySchema ?? onlySchema(await schemasWith(db, id, instanceId));
      const row = await findInstance(db, id, schema, instanceId);
      if (row === undefined) throw new ServiceError('entity_instance_not_found');
      return withTag(recordOf(row));
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
