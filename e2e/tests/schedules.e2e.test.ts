import { createTestDatabase, type TestDatabase } from '@orrery/testing';
import type { System } from '@orrery/testing/system';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiClient, apiClient } from '../src/api/api-client.js';
import { findViolations } from '../src/invariants/find-violations.js';
import { startSystem } from '../src/starting/start-system.js';
import { type ScheduledWorld, scheduledWorld } from '../src/worlds/scheduled-world.js';

describe('schedules, with all services', () => {
  let database: TestDatabase;
  let system: System;
  let api: ApiClient;
  let world: ScheduledWorld;
  beforeAll(async () => {
    database = await createTestDatabase();
    system = await startSystem(database.url);
    api = apiClient(system.url, system.key);
    world = await scheduledWorld(api, '0 0 29 2 *');
  });
  afterAll(async () => {
    await system[Symbol.asyncDispose]();
    await database.drop();
  });

  const schedulesOf = async (deployment: string) => (await api.get(`${deployment}/schedules`)).body.data;
  const run = async (deployment: string) => (await api.post(`${deployment}/schedules/lap/run`)).body.data;

  it('a binding has its schedule when it is answered, and loses it when it is unbound', async () => {
    const deployment = await world.deploy();
    expect(await schedulesOf(deployment)).toMatchObject([
      {
        event: 'lap',
        eventVersion: 1,
        status: 'active',
        counter: 0,
        nextAt: expect.stringContaining('-02-29T'),
      },
    ]);
    await api.delete(`${deployment}/event-bindings?event=lap`);
    expect(await schedulesOf(deployment)).toEqual([]);
  });

  it('a run is an execution of the schedule, with its entry in the history', async () => {
    const deployment = await world.deploy();
    const occurrence = await run(deployment);
    expect(occurrence).toMatchObject({ kind: 'manual', status: 'fired', outcome: 'succeeded' });
    const { body } = await api.get(`${deployment}/history/${occurrence.historyId}`);
    expect(body.data).toMatchObject({
      caller: 'schedule:lap',
      trigger: 'cron',
      seq: occurrence.seq,
      input: { lap: 1, due: occurrence.dueAt },
      result: { lap: 1, due: occurrence.dueAt },
    });
    const listed = await api.get(`${deployment}/schedules/lap/occurrences`);
    expect(listed.body.data).toEqual([occurrence]);
    expect((await schedulesOf(deployment))[0]).toMatchObject({ counter: 0, lastOccurrence: occurrence });
  });

  it('a changed draft, a new version, a pause and the lock are followed at once', async () => {
    const deployment = await world.deploy();
    const eventVersion = await world.version('0 12 1 1 *');
    await api.put(`${deployment}/event-bindings`, [{ event: 'lap', eventVersion }]);
    expect((await schedulesOf(deployment))[0]).toMatchObject({ eventVersion, schedule: '0 12 1 1 *' });
    const version = `${deployment.replace(/\/deployments.*/, '')}/events/lap/event-versions/${eventVersion}`;
    const input = { lap: '{{counter}}', due: '{{scheduledAt}}' };
    await api.put(version, { executionSettings: { cron: { schedule: '0 13 1 1 *', input } } });
    expect((await schedulesOf(deployment))[0]).toMatchObject({ schedule: '0 13 1 1 *' });
    const ran = await run(deployment);
    expect(ran).toMatchObject({ eventVersion, outcome: 'succeeded', error: null });
    await api.post(`${deployment}/pause`);
    expect((await schedulesOf(deployment))[0]).toMatchObject({ status: 'paused', nextAt: null });
    const refused = await api.post(`${deployment}/schedules/lap/run`);
    expect(refused.body).toMatchObject({ code: 'deployment_paused' });
    await api.post(`${deployment}/resume`);
    await api.post(`${deployment}/lock`);
    expect(await run(deployment)).toMatchObject({ outcome: 'succeeded' });
    const paused = await api.get(`${deployment}/schedules/lap/occurrences?status=paused`);
    expect(paused.body.data).toMatchObject([{ kind: 'pause', until: expect.any(String) }]);
  });

  it('and break no invariant', async () => {
    expect(await findViolations(system.databaseUrl)).toEqual([]);
  });
});
