import { connect, type Database } from '@orrery/database';
import { createLogger } from '@orrery/service-kit';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RuntimeSchema } from '../src/store/tables/schema.js';
import { attribute } from './fake-catalog.js';
import { sendsTo } from './paying.js';
import { type House, plantDeployment, prepareHouse, refusalOf } from './running-runtime.js';

const house: House = await prepareHouse();
let database: Database<RuntimeSchema>;

/** Creates, changes and deletes instances, unsets attributes, and has a result: all that an answer can tell. */
const rich = {
  event: 'rich',
  inputSchema: { id: 'string', by: 'float' },
  stateChanges: { counter: 'partial' as const, badge: 'partial' as const },
  executionSettings: { visibility: 'public' as const },
  mutationSettings: {
    mode: 'direct' as const,
    template: {
      stateChanges: {
        'counter:{{input.id}}': { count: { $increment: 1 }, label: { $unset: true } },
        'badge:longer-than-the-other': { zeal: '{{input.by}}', a: '{{walletAddress}}', '10': 0.1, '9': 'x' },
        'badge:old': { $delete: true },
      },
      result: { zebra: [1, { b: null, a: '"\\ü' }], ape: '{{input.by}}' },
    },
  },
};

beforeAll(async () => {
  const logger = createLogger({ service: 'test', level: 'error' });
  const address = { url: house.databaseUrl, schema: 'runtime', applicationName: 'test', logger };
  database = house.resources.use('looking on', await connect<RuntimeSchema>(address));
  house.catalog.plantSchema('badge', [
    attribute('zeal', 'float'),
    attribute('a', 'string'),
    attribute('10', 'float'),
    attribute('9', 'string'),
  ]);
  house.catalog.plantVersion(rich);
});

async function plant() {
  const bindings = [{ event: 'rich', eventVersion: 1, targetChains: ['near-testnet', 'base-sepolia'] }];
  const planted = await plantDeployment(house, { bindings });
  const { params } = planted;
  await house.call('deployments.publish', { params });
  const create = (entitySchema: string, instanceId: string, state: object) =>
    house.call('instances.create', { params, body: { entitySchema, instanceId, state } });
  await create('counter', 'a', { label: 'a' });
  await create('badge', 'old', {});
  const sends = sendsTo(house, planted.deployment.address);
  const send = (at: number, input: object = { id: 'a', by: 1.5 }) => sends({ event: 'rich', input, at });
  return { ...planted, create, send };
}

const keyOf = async (deploymentId: number) => {
  const { rows } = await database.pool.query<{ reply: unknown; seq: number | null }>(
    `select reply, seq from once_keys where scope = 'message' and deployment_id = $1`,
    [deploymentId],
  );
  return rows;
};

/** The leases go, as when a process is killed: it hands nothing over. */
async function loseOwner() {
  await database.pool.query('delete from members');
  await database.pool.query('update partitions set owner = null, expires_at = null');
}

describe('the answer of a message', () => {
  it('is that of its entry, whatever has changed since and whoever owns the deployment', async () => {
    await house.boot();
    const { send, create, params, deployment } = await plant();
    const at = Date.now();
    const first = await send(at);
    expect(first.data).toMatchObject({
      stateChanges: {
        'counter:a': { count: 1, label: null },
        'badge:longer-than-the-other': { zeal: 1.5, '10': 0.1 },
        'badge:old': null,
      },
      result: { zebra: [1, { b: null, a: '"\\ü' }], ape: 1.5 },
      pushes: [
        { chain: 'near-testnet', status: 'queued' },
        { chain: 'base-sepolia', status: 'queued' },
      ],
    });
    expect(await keyOf(deployment.id)).toEqual([{ reply: null, seq: first.data.seq }]);
    await create('badge', 'old', {});
    await send(at + 1, { id: 'a', by: 2 });
    await house.call('deployments.unpublish', { params });
    await house.call('deployments.pause', { params });
    await house.call('bindings.remove', { params, query: { event: 'rich' } });
    expect(await send(at)).toEqual(first);
    await loseOwner();
    await house.boot();
    expect(await send(at)).toEqual(first);
  });

  it('is its error where it failed, stored as it was told', async () => {
    const { send, deployment } = await plant();
    const input = { id: 'a', by: 1e300 };
    const at = Date.now();
    await send(at - 1);
    // The instance that it deletes is gone.
    const failure = await refusalOf(send(at, input));
    const again = await refusalOf(send(at, input));
    const told = ({ code, message, facts, errors }: typeof failure) => ({ code, message, facts, errors });
    expect(told(again)).toEqual(told(failure));
    expect(await keyOf(deployment.id)).toContainEqual({
      seq: null,
      reply: { error: expect.objectContaining({ code: failure.code }) },
    });
  });

  it('is the stored one where the release before stored it', async () => {
    const { send, deployment } = await plant();
    const at = Date.now();
    const first = await send(at);
    const stored = { ...first.data, result: 'as it was stored' };
    await database.pool.query('update once_keys set seq = null, reply = $1 where deployment_id = $2', [
      JSON.stringify({ reply: stored }),
      deployment.id,
    ]);
    expect(await send(at)).toEqual({ ...first, data: stored });
  });

  it('is found for many messages at once, each its own', async () => {
    const { send, create } = await plant();
    const at = Date.now();
    const sent = Array.from({ length: 20 }, (_, index) => ({ at: at + index, id: `many ${index}` }));
    const answers = [];
    for (const { at, id } of sent) {
      answers.push(await send(at, { id, by: 1 }));
      await create('badge', 'old', {});
    }
    expect(await Promise.all(sent.map(({ at, id }) => send(at, { id, by: 1 })))).toEqual(answers);
  });
});
