import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { type DeploymentSource, type HistoryQuery, historyQuery } from '@orrery/contracts';
import { sql } from 'kysely';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { instancesByKey } from '../src/store/deployments/instance-store.js';
import { listHistory } from '../src/store/journal/history.js';
import { snapshotAt, snapshotHasher } from '../src/store/journal/past-states.js';
import { openRuntimeDatabase, type PlantedDeployment, plantDeployment } from './journal-fixture.js';

const db = await openRuntimeDatabase();
const planted = new Map<string, PlantedDeployment>();
const server = await serve();
afterAll(() => server.close());

/** What the server makes of its lists before it answers: nothing, if it is honest. */
let disguise = (_what: string, rows: readonly object[]): readonly object[] => rows;
/** How many requests it refuses from now on. */
let tooOften = 0;
/** What happens before each of the next pages of instances. */
let meanwhile: (() => Promise<void>)[] = [];
let largestPage = 100;
beforeEach(() => {
  disguise = (_, rows) => rows;
  largestPage = 100;
});

/** As much of the HTTP interface as the program reads. */
async function serve(): Promise<Server> {
  const http = createServer(async ({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://localhost');
    const [, , , , , address = '', what] = pathname.split('/');
    const deployment = planted.get(address);
    if (deployment === undefined) return response.writeHead(404).end();
    if (tooOften-- > 0) return response.writeHead(429, { 'retry-after': '0' }).end();
    const answered = await answer(deployment, what, Object.fromEntries(searchParams));
    if (answered === undefined) return response.writeHead(400).end();
    response.end(JSON.stringify({ success: true, ...answered }));
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
  if (what === undefined) return { data: { address, source } };
  if (what === 'history') {
    const { data } = await listHistory(db, deployment, historyQuery.parse(query) as HistoryQuery);
    return { data: disguise(what, data) };
  }
  // Pages by their numbers end at 100,000 instances.
  if (query['orderBy'] !== 'id' || query['page'] !== undefined) return undefined;
  await meanwhile.shift()?.();
  const { rows, next } = await instancesBehind(
    id,
    Math.min(Number(query['limit']), largestPage),
    query['cursor'],
  );
  return { data: disguise(what, rows), pagination: { limit: 100, next } };
}

/** A page and its cursor, which is here the name of its last instance. */
async function instancesBehind(id: number, limit: number, cursor: string | undefined) {
  const after = cursor === undefined ? undefined : JSON.parse(cursor);
  const rows = await instancesByKey(db, id, limit, after);
  const { entitySchema, instanceId } = rows.at(-1) ?? {};
  return { rows, next: rows.length < limit ? null : JSON.stringify({ entitySchema, instanceId }) };
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
  [
    'the revision of an instance',
    (id) => sql`update instances set revision = 99 where deployment_id = ${id} and instance_id = 'H3'`,
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

test('it notices an instance that is shown twice in place of another one', async () => {
  const race = await plantRace();
  disguise = (what, rows) => (what === 'history' ? rows : [...rows.slice(1), ...rows.slice(1, 2)]);
  expect(await verify(race)).toBe('an instance is missing');
});

test('it notices a revision that cannot follow, and an entry of another deployment, whatever their hashes', async () => {
  const changed = { entitySchema: 'horse', instanceId: 'H', op: 'create', set: {}, unset: [], revision: 7 };
  const skipping = await plant();
  await skipping.add({ changes: [{ ...changed, state: {} }] as never });
  expect(await verify(skipping)).toBe('create of ["horse","H"] has not the next revision');
  const deployment = `0x${'5a'.repeat(20)}`;
  const mixed = await plant();
  await mixed.add({ deployment });
  disguise = (what, rows) => (what === 'history' ? rows.map((entry) => ({ ...entry, deployment })) : rows);
  expect(await verify(mixed)).toBe('entry 1 is of another deployment');
});

test('it notices that the journal of a source ends before the entry that the clone began at', async () => {
  const source = await plant();
  await source.add();
  const snapshotHash = snapshotHasher().digest();
  const clone = await plant({ address: source.address, seq: 2, snapshotHash });
  expect(await verify(clone)).toBe('entry 2 is missing');
});

test('it reads names that are written with escapes as they are, and asks again where it asked too often', async () => {
  const race = await plant();
  for (const name of ['\n', '\\', '"', '\u2028']) await race.add({ input: { horse: 'H', [name]: 1 } });
  tooOften = 2;
  expect(JSON.parse(await verify(race))).toMatchObject({ valid: true, entries: 4 });
  tooOften = 10;
  expect(await verify(race)).toMatch(/answers 429$/);
});

test('it compares more instances than pages by their numbers reach', async () => {
  const race = await plant();
  const MANY = 100_001;
  const created = { entitySchema: 'horse', op: 'create', set: {}, unset: [], revision: 1, state: {} };
  for (let first = 0; first < MANY; first += 500) {
    const some = Array.from({ length: Math.min(500, MANY - first) }, (_, at) => `H${first + at}`);
    const changes = some.map((instanceId) => ({ ...created, instanceId }));
    await race.add({ changes: changes as never }, { storesInstances: false });
  }
  await sql`
    insert into instances (id, deployment_id, entity_schema, instance_id, state, revision, created_at, updated_at)
    select 1000000 + n, ${race.id}, 'horse', 'H' || n, '{}', 1, now(), now()
    from generate_series(0, ${MANY - 1}::integer) n`.execute(db);
  await sql`analyze instances`.execute(db);
  expect(JSON.parse(await verify(race))).toEqual({ valid: true, entries: 201, instances: MANY });
});

test('it takes an instance as it was at any time since the first was read', async () => {
  const race = await plantRace();
  largestPage = 2;
  const wins = { wins: 1000 };
  meanwhile = [
    async () => {},
    // The first page had 1 and 2.
    async () => {
      await race.write('H1', wins);
      await race.write('H2', null);
      await race.write('H3', wins);
      await race.write('H3', { wins: 1001 });
      await race.write('H0', wins);
    },
    async () => {
      await race.write('H3', { wins: 1002 });
      await race.write('H5', null);
      await race.write('H9', wins);
    },
  ];
  expect(JSON.parse(await verify(race))).toMatchObject({ valid: true, entries: 70 });
  expect(meanwhile).toEqual([]);
});

test('it takes another secret than that of the commitment for no reveal, as the service does', async () => {
  const race = await plant();
  const none = { event: null, eventVersion: null, versionHash: null, trigger: null, status: null };
  const commitment = 'ab'.repeat(32);
  await race.add({ ...none, kind: 'randomness_committed', input: { commitment } });
  const secrets = [{ commitment, secret: '00' }];
  await race.add({ ...none, kind: 'randomness_revealed', input: { secrets } });
  expect(JSON.parse(await verify(race))).toMatchObject({ valid: true, entries: 2 });
});
