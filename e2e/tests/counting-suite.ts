import { createTestDatabase } from '@orrery/testing';
import { startNatsServer } from '@orrery/testing/servers';
import { type System, startFiveProcesses } from '@orrery/testing/system';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { apiClient } from '../src/api/api-client.js';
import { findViolations } from '../src/invariants/find-violations.js';
import { readJournal } from '../src/load/read-journal.js';
import { runClients } from '../src/load/run-clients.js';
import { verifyWhole } from '../src/load/verify-whole.js';
import { startSystem } from '../src/starting/start-system.js';
import { counterWorld, countRequest } from '../src/worlds/counter-world.js';

const CLIENTS = 64;
const unlimited = { RATE_LIMITS: 'false' };
type CleanUp = (() => Promise<void>)[];

export async function anySystem(cleanUp: CleanUp): Promise<System> {
  const database = await createTestDatabase();
  cleanUp.push(() => database.drop());
  return startSystem(database.url, unlimited);
}

export async function fiveProcesses(cleanUp: CleanUp): Promise<System> {
  const nats = await startNatsServer();
  cleanUp.push(nats.stop);
  const database = await createTestDatabase();
  cleanUp.push(() => database.drop());
  return startFiveProcesses({ databaseUrl: database.url, natsUrl: nats.url }, unlimited);
}

/** Executions of one deployment are serial, however many clients there are. */
export function countWith64Clients(
  operations: number,
  start: (cleanUp: (() => Promise<void>)[]) => Promise<System>,
): void {
  const cleanUp: (() => Promise<void>)[] = [];
  let system: System;
  beforeAll(async () => {
    system = await start(cleanUp);
  });
  afterAll(async () => {
    await system?.[Symbol.asyncDispose]();
    for (const release of cleanUp.reverse()) await release();
  });

  it(`${CLIENTS} clients increment one counter ${operations} times`, async () => {
    const api = apiClient(system.url, system.key);
    const deployment = await (await counterWorld(api)).deploy();
    await runClients(CLIENTS, operations, async (operation) => {
      // Every tenth is asked for twice at once, under one key: it counts once.
      const headers: Record<string, string> =
        operation % 10 === 0 ? { 'idempotency-key': `operation ${operation}` } : {};
      const ask = () => api.post(`${deployment}/execute`, countRequest(operation), headers);
      const [answer, ...repeated] = await Promise.all(operation % 10 === 0 ? [ask(), ask()] : [ask()]);
      if (answer?.status !== 200) throw new Error(JSON.stringify(answer?.body));
      for (const other of repeated) expect(other.body).toEqual(answer?.body);
    });

    const counter = await api.get(`${deployment}/entity-instances/C`);
    expect(counter.body.data).toMatchObject({ state: { value: operations }, revision: operations });
    expect(await verifyWhole(api, deployment)).toEqual({
      valid: true,
      entries: operations + 1,
      firstDivergence: null,
    });
    const journal = await readJournal(api, deployment);
    expect(journal.map(({ seq }) => seq)).toEqual(Array.from({ length: operations + 1 }, (_, i) => i + 1));
    const counted = journal.slice(1).map(({ input }) => Number(input['operation']));
    expect(counted.sort((a, b) => a - b)).toEqual(Array.from({ length: operations }, (_, i) => i));
    expect(await findViolations(system.databaseUrl)).toEqual([]);
  });
}
