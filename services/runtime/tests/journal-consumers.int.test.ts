import type { JournalHead, journalRpcs, ReplyOf } from '@orrery/contracts';
import { connect, type Database } from '@orrery/database';
import { createLogger } from '@orrery/service-kit';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { partitionOf } from '../src/store/leases/leases.js';
import type { RuntimeSchema } from '../src/store/tables/schema.js';
import { type House, plantDeployment, prepareHouse } from './running-runtime.js';

const house: House = await prepareHouse();
let database: Database<RuntimeSchema>;
type Runtime = Awaited<ReturnType<House['boot']>>;
let runtimes: Runtime[];

beforeAll(async () => {
  const logger = createLogger({ service: 'test', level: 'error' });
  const address = { url: house.databaseUrl, schema: 'runtime', applicationName: 'test', logger };
  runtimes = [await house.boot(), await house.boot()];
  database = house.resources.use('looking on', await connect<RuntimeSchema>(address));
  await vi.waitFor(async () => {
    for (const { leases } of runtimes) await leases.runOnce();
    const owners = await database.pool.query('select count(distinct owner)::int as n from partitions');
    expect(owners.rows[0]).toEqual({ n: 2 });
  });
});

/** All pages of one pass, and when it began. */
async function readHeads(changedSince: string | null, limit: number) {
  const heads: JournalHead[] = [];
  let after: { minute: number; deploymentId: number } | null = null;
  let until: string | null = null;
  for (;;) {
    const page: ReplyOf<(typeof journalRpcs)['journal.heads']> = await house.ask('journal.heads', {
      changedSince,
      after,
      limit,
    });
    expect(page.heads.length).toBeLessThanOrEqual(limit);
    until ??= page.until;
    heads.push(...page.heads);
    after = page.next;
    if (after === null) return { heads, until };
  }
}

describe('the heads of journals', () => {
  it('come page by page, with what the last entry has, of deleted deployments too', async () => {
    const planted = [];
    for (let n = 0; n < 5; n += 1) planted.push(await plantDeployment(house));
    const [first] = planted;
    if (first === undefined) throw new Error('nothing was planted');
    await first.execute({ id: 'a' });
    await house.call('deployments.delete', { params: first.params });
    const { heads } = await readHeads(null, 2);
    expect(new Set(heads.map(({ deployment }) => deployment)).size).toBe(heads.length);
    for (const { deployment } of planted) {
      const range = { deployment: deployment.address, after: 0, limit: 10 };
      const last = (await house.ask('journal.range', range)).entries.at(-1);
      expect(heads).toContainEqual({ deployment: deployment.address, seq: last?.seq, hash: last?.hash });
    }
  });

  it('that have not changed since a time are left out', async () => {
    const quiet = await plantDeployment(house);
    const busy = await plantDeployment(house);
    await database.pool.query('update journal_heads set active_minute = active_minute - 5');
    const { until } = await readHeads(null, 1000);
    await busy.execute({ id: 'a' });
    const { heads } = await readHeads(until, 1000);
    expect(heads.map(({ deployment }) => deployment)).toEqual([busy.deployment.address]);
    expect((await readHeads(null, 1000)).heads.map(({ deployment }) => deployment)).toContain(
      quiet.deployment.address,
    );
  });
});

it('two runtimes share the publication: each publishes the entries of the deployments that it owns', async () => {
  const planted = [];
  // Far apart and side by side, so that both own some, whichever partitions they took.
  for (const start of [1000, 1032, 1065]) {
    await database.pool.query(`select setval(pg_get_serial_sequence('runtime.deployments', 'id'), $1)`, [
      start,
    ]);
    for (let n = 0; n < 3; n += 1) planted.push(await plantDeployment(house));
  }
  const addresses = planted.map(({ deployment }) => deployment.address);
  // A deployment that another process created is published at its owner's next look, up to a second later.
  await vi.waitFor(() => expect(house.published.flat()).toEqual(expect.arrayContaining(addresses)));
  for (const list of house.published) list.splice(0);
  for (const { execute } of planted) await execute({ id: 'a' });
  // Of the tests before, some may be published late.
  const published = (index: number) => house.published[index]?.filter((one) => addresses.includes(one)) ?? [];
  await vi.waitFor(() => expect([...published(0), ...published(1)]).toHaveLength(planted.length));
  const { rows } = await database.pool.query<{ id: number; owner: string }>(
    'select id, owner from partitions',
  );
  for (const [index, { instance }] of runtimes.entries()) {
    const owned = rows.filter(({ owner }) => owner === instance).map(({ id }) => id);
    const own = planted.filter(({ deployment }) => owned.includes(partitionOf(Number(deployment.id))));
    expect(own.length).toBeGreaterThan(0);
    expect(published(index).toSorted()).toEqual(own.map(({ deployment }) => deployment.address).sort());
  }
});
