import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { type DeploymentSource, type HistoryQuery, historyQuery } from '@orrery/contracts';
import { sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import { listHistory } from '../src/store/journal/history.js';
import { snapshotAt, snapshotHasher } from '../src/store/journal/past-states.js';
import { openRuntimeDatabase, type PlantedDeployment, plantDeployment } from './journal-fixture.js';

const db = await openRuntimeDatabase();
const planted = new Map<string, PlantedDeployment>();
const server = await serve();
afterAll(() => server.close());

/** As much of the HTTP interface as the program reads. */
async function serve(): Promise<Server> {
  const http = createServer(async ({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://localhost');
    const [, , , , , address = '', what] = pathname.split('/');
    const deployment = planted.get(address);
    if (deployment === undefined) return response.writeHead(404).end();
    const data = await answer(deployment, what, Object.fromEntries(searchParams));
    response.end(JSON.stringify({ success: true, data }));
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return http;
}

async function answer(
  deployment: PlantedDeployment,
  what: string | undefined,
  query: Record<string, string>,
) {
  const { address, source, id } = deployment;
  if (what === 'history') {
    return (await listHistory(db, deployment, historyQuery.parse(query) as HistoryQuery)).data;
  }
  if (what === undefined) return { address, source };
  const rows = await db
    .selectFrom('instances')
    .selectAll()
    .where('deployment_id', '=', id)
    .orderBy('id')
    .execute();
  const from = (Number(query['page']) - 1) * 100;
  return rows.slice(from, from + 100).map(({ entity_schema, instance_id, state }) => ({
    entitySchema: entity_schema,
    instanceId: instance_id,
    state,
  }));
}

const program = new URL('../../../docs/verify-history.mjs', import.meta.url).pathname;
const run = promisify(execFile);
async function verify({ address }: PlantedDeployment): Promise<string> {
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const done = await run(process.execPath, [program, base, '1', address, 'token']).catch(
    (error: unknown) => error,
  );
  const { stdout, stderr } = done as { stdout: string; stderr: string };
  return stdout || (/Error: (.*)/.exec(stderr)?.[1] ?? stderr);
}

async function plant(source: DeploymentSource | null = null) {
  const deployment = await plantDeployment(db, source);
  planted.set(deployment.address, deployment);
  return deployment;
}

async function plantRace() {
  const race = await plant();
  await race.add({ kind: 'deployment_created', event: null, trigger: null, status: null });
  for (let lap = 1; lap <= 60; lap++) {
    await race.write(
      `H${lap % 7}`,
      lap % 20 === 0 ? null : { wins: lap, 'é\u2028"': [1e21, -0, 0.1, { b: 1, a: null }] },
    );
  }
  await race.add({ status: 'failed', error: { code: 'template_failed', detail: 'no', facts: { a: 1 } } });
  return race;
}

test('a program that knows only the recipe finds chain and fold to hold', async () => {
  expect(JSON.parse(await verify(await plantRace()))).toEqual({ valid: true, entries: 62, instances: 6 });
});

test.each<[string, (id: number) => ReturnType<typeof sql>, string]>([
  [
    'an entry',
    (id) => sql`update journal set caller = 'x' where deployment_id = ${id} and seq = 9`,
    'the hash of entry 9 does not cover it',
  ],
  [
    'a link',
    (id) => sql`delete from journal where deployment_id = ${id} and seq = 9`,
    'entry 9 does not follow the one before',
  ],
  [
    'an instance',
    (id) => sql`update instances set state = '{}' where deployment_id = ${id} and instance_id = 'H3'`,
    'horse:H3 is not what its changes say',
  ],
])('it notices that %s was changed', async (_what, tamper, finding) => {
  const race = await plantRace();
  await tamper(race.id).execute(db);
  expect(await verify(race)).toBe(finding);
});

test('it follows a clone to the entry of its source that it began at', async () => {
  const race = await plantRace();
  const hasher = snapshotHasher();
  const copied: [string, object][] = [];
  for await (const instance of snapshotAt(db, race.id, 30)) {
    hasher.add(instance);
    copied.push([instance.instanceId, instance.state]);
  }
  const source = { address: race.address, seq: 30, snapshotHash: hasher.digest() };
  const clone = await plant(source);
  for (const [id, state] of copied) await clone.begin(id, state as never);
  for (const [id] of copied) await clone.write(id, { wins: 1000 });
  expect(JSON.parse(await verify(clone))).toMatchObject({ valid: true, entries: copied.length });
  const other = await plant({ ...source, snapshotHash: '0'.repeat(64) });
  expect(await verify(other)).toBe('the clone began with something else than its source was');
});
