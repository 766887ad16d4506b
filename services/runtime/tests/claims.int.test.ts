import { type CallContext, newAddress } from '@orrery/contracts';
import { createKeyedMutex, createLogger } from '@orrery/service-kit';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { WorkItem } from '../src/lane/items/work-item.js';
import { releaseEmptySchema } from '../src/operations/claims/claims.js';
import { removeClaims } from '../src/store/deployments/claim-store.js';
import { NotOwner, partitionOf } from '../src/store/leases/leases.js';
import { ClaimedMessages } from '../src/store/state/claimed-messages.js';
import { loadState } from '../src/store/state/load-state.js';
import { incrementVersion } from './fake-catalog.js';
import { type House, plantDeployment, prepareHouse } from './running-runtime.js';

const house: House = await prepareHouse();
let runtime = await house.boot();
const { call, catalog } = house;
catalog.plantVersion({ ...incrementVersion, version: 2, versionId: 2 });

const nextOwner = async () => {
  await runtime[Symbol.asyncDispose]();
  runtime = await house.boot();
};

type Planted = Awaited<ReturnType<typeof plantDeployment>>;
const byVersion = async (): Promise<Planted> => plantDeployment(house);
const bySchema = async (): Promise<Planted> => {
  const planted = await byVersion();
  await planted.createCounter('a');
  return planted;
};
const byClone = async (): Promise<Planted> => {
  const source = await bySchema();
  return plantDeployment(house, { bindings: [], sourceDeployment: source.deployment.address });
};
const byUpdate = async (): Promise<Planted> => {
  const planted = await byVersion();
  for (const eventVersion of [2, 1])
    await call('bindings.update', { params: planted.params, body: [{ event: 'increment', eventVersion }] });
  return planted;
};

/** Claims of a deployment and what makes it release them. */
const VERSION = {
  name: 'version 1',
  release: ({ params }: Planted) => call('bindings.remove', { params, query: { event: 'increment' } }),
};
const SCHEMA = {
  name: 'schema 1',
  release: ({ params }: Planted) => call('instances.delete', { params: { ...params, instanceId: 'a' } }),
};

describe.each([
  ['a binding', byVersion, VERSION],
  ['a changed binding', byUpdate, VERSION],
  ['a first instance', bySchema, SCHEMA],
  ['a copied binding', byClone, VERSION],
  ['a copied instance', byClone, SCHEMA],
])('the claim of %s', (_what, plant, { name, release }) => {
  it('is released by the next owner', async () => {
    const planted = await plant();
    const claim = `${planted.deployment.address} ${name}`;
    expect(catalog.claims).toContain(claim);
    await nextOwner();
    await release(planted);
    expect(catalog.claims).not.toContain(claim);
  });

  it('stays when it was made again before it is released', async () => {
    const planted = await plant();
    const deployment = planted.deployment.address;
    catalog.claim(`${deployment} ${name}`);
    await release(planted);
    expect(catalog.claims).toContain(`${deployment} ${name}`);
  });
});

it('the claim of a binding stays that is bound to the same version again, or changed otherwise', async () => {
  const { params, deployment } = await byVersion();
  for (const change of [{ eventVersion: 1 }, { targetChains: ['near-testnet'] }])
    await call('bindings.update', { params, body: [{ event: 'increment', ...change }] });
  expect(catalog.claims).toContain(`${deployment.address} version 1`);
});

const claimedSchemas = async (id: number) =>
  (await sql`select from claimed_schemas where deployment_id = ${id}`.execute(runtime.context.db)).rows
    .length;

it('a process that has lost the lease removes no rows of claims', async () => {
  const { deployment } = await bySchema();
  const partition = partitionOf(deployment.id);
  const { rows } = await sql<{ epoch: number }>`select epoch from partitions where id = ${partition}`.execute(
    runtime.context.db,
  );
  const epoch = rows[0]?.epoch ?? 0;
  const remove = (held: number) =>
    removeClaims(runtime.context.db, { id: deployment.id, partition, epoch: held }, [1]);
  await expect(remove(epoch - 1)).rejects.toThrow(NotOwner);
  expect(await claimedSchemas(deployment.id)).toBe(1);
  await remove(epoch);
  expect(await claimedSchemas(deployment.id)).toBe(0);
});

it('a claim is not released on a read that a commit has overtaken', async () => {
  const { deployment, params } = await bySchema();
  await call('instances.delete', { params: { ...params, instanceId: 'a' } });
  const state = await loadState(runtime.context.db, deployment.id, 1, {
    messages: new ClaimedMessages(),
    now: Date.now(),
    ids: runtime.context.ids,
    putOwnLast: async () => 0,
  });
  if (state === undefined) throw new Error('the deployment is gone');
  state.claimedSchemas.set('counter', { schemaId: 1, revision: 1, committed: true });
  const outcomes: string[] = [];
  const submit = async <T>(item: WorkItem<T>): Promise<T> => {
    await item.prepare(state);
    state.head = { ...state.head, seq: state.head.seq + 1 };
    outcomes.push(item.decide(state, { take: () => [] } as never, 0).kind);
    throw new Error('decided once');
  };
  const context = {
    ...runtime.context,
    lanes: { submit } as never,
    catalog: { release: async () => undefined } as never,
    claimMutex: createKeyedMutex(),
    logger: createLogger({ service: 'test', level: 'error' }),
  };
  const known = { id: deployment.id, address: newAddress() };
  await releaseEmptySchema(context, known as never, 'counter', {} as CallContext);
  expect(outcomes).toEqual(['prepare']);
});
