import { lifecycleChanged } from '@orrery/contracts';
import { connect } from '@orrery/database';
import { createLogger } from '@orrery/service-kit';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { RuntimeSchema } from '../src/store/tables/schema.js';
import { codeOf, type House, OTHER, plantDeployment, prepareHouse } from './running-runtime.js';

const house: House = await prepareHouse();
await house.boot();
house.catalog.plantVersion({ event: 'second', versionId: 90 });

const read = (deployment: string, after = 0) => house.ask('lifecycle.read', { deployment, after });
const headsOf = async (of: string) => {
  const { heads } = await house.ask('journal.heads', { changedSince: null, after: null, limit: 1000, of });
  return new Map(heads.map(({ deployment, seq, hash }) => [deployment, { seq, hash }]));
};

describe('the lifecycle of a deployment', () => {
  it('is its bindings and pauses, with the entries that changed them', async () => {
    const { deployment, params, createCounter, execute } = await plantDeployment(house);
    const { address } = deployment;
    await createCounter('a');
    await execute({ id: 'a' });
    await house.call('bindings.add', { params, body: [{ event: 'second', eventVersion: 1 }] });
    await house.call('bindings.remove', { params, query: { event: 'increment' } });
    await execute({ id: 'a' }).catch(() => undefined);
    await house.call('deployments.pause', { params });
    const lifecycle = await read(address);
    expect(lifecycle).toMatchObject({
      deployment: address,
      worldAddress: deployment.worldAddress,
      isPaused: true,
      isDeleted: false,
      bindings: [{ event: 'second', versionId: 90, eventVersion: 1 }],
      head: { seq: 6 },
      entries: [
        { seq: 1, kind: 'deployment_created', events: ['increment'], versions: { increment: 1 } },
        { seq: 4, kind: 'bindings_added', events: ['second'], versions: { second: 1 } },
        { seq: 5, kind: 'binding_removed', events: ['increment'] },
        { seq: 6, kind: 'paused', events: [], cause: 'owner' },
      ],
    });
    const later = await read(address, 4);
    expect(later.entries.map(({ seq }) => seq)).toEqual([5, 6]);
    expect(later.afterHash).toMatch(/^[0-9a-f]{64}$/);
    expect((await read(address, 99)).afterHash).toBeNull();
  });

  it('ends with the deletion, and stays readable', async () => {
    const { deployment, params } = await plantDeployment(house);
    await house.call('deployments.delete', { params });
    expect(await read(deployment.address)).toMatchObject({ isDeleted: true, bindings: [], head: { seq: 2 } });
    expect(await codeOf(read(`0x${'0'.repeat(40)}`))).toBe('deployment_not_found');
  });

  it('has a head of its own, which executions do not move', async () => {
    const { deployment, createCounter, execute } = await plantDeployment(house);
    await createCounter('a');
    await execute({ id: 'a' });
    const { head } = await read(deployment.address);
    expect(head.seq).toBe(1);
    expect((await headsOf('lifecycle')).get(deployment.address)).toEqual(head);
    expect((await headsOf('journal')).get(deployment.address)?.seq).toBe(3);
  });

  it('is announced when it changes, and not when an event is executed', async () => {
    const announced: string[] = [];
    const stop = new AbortController();
    onTestFinished(() => stop.abort());
    await house.bus.listen(
      lifecycleChanged,
      ({ deployments }) => announced.push(...deployments),
      stop.signal,
    );
    const { deployment, params, createCounter, execute } = await plantDeployment(house);
    await createCounter('a');
    await execute({ id: 'a' });
    await house.call('deployments.publish', { params });
    // Of the tests before, some may be announced late.
    const own = () => announced.filter((address) => address === deployment.address);
    await vi.waitFor(() => expect(own()).toHaveLength(2));
  });

  it('is found by an index, however many executions there are', async () => {
    const logger = createLogger({ service: 'test', level: 'error' });
    const address = { url: house.databaseUrl, schema: 'runtime', applicationName: 'test', logger };
    const database = await connect<RuntimeSchema>(address);
    onTestFinished(() => database.close());
    const { rows } = await sql<{ 'QUERY PLAN': string }>`
      explain select j.seq from journal j where j.deployment_id = 1 and j.kind not in
        ('execution', 'instance_created', 'instance_updated', 'instance_deleted') order by j.seq desc limit 1
    `.execute(database.db);
    expect(JSON.stringify(rows)).toContain('journal_lifecycle');
  });
});

describe('authorizing for another service', () => {
  const authorize = (params: object, relation: 'visible' | 'owner', accountId?: number) =>
    house.call('deployments.authorize', { params, relation } as never, accountId ? { accountId } : {});

  it('follows the owner and what is public', async () => {
    const { deployment, params } = await plantDeployment(house);
    const { head: lifecycle } = await read(deployment.address);
    const found = { deployment: deployment.address, isPaused: false, lifecycle, seesCode: true };
    expect(await authorize(params, 'owner')).toEqual(found);
    expect(await codeOf(authorize(params, 'visible', OTHER))).toBe('deployment_not_found');
    expect(await codeOf(authorize(params, 'owner', OTHER))).toBe('deployment_not_found');
    await house.call('deployments.publish', { params });
    const seenByOther = { deployment: deployment.address, seesCode: false };
    expect(await authorize(params, 'visible', OTHER)).toMatchObject(seenByOther);
    expect(await codeOf(authorize(params, 'owner', OTHER))).toBe('forbidden');
    await house.call('deployments.delete', { params });
    expect(await codeOf(authorize(params, 'owner'))).toBe('deployment_not_found');
  });
});
