import { createPublicKey, verify } from 'node:crypto';
import { withClient } from '@orrery/testing/servers';
import { describe, expect, it } from 'vitest';
import { parseSigningKeys } from '../src/core/merkle/checkpoint.js';
import { mth, path, proof } from '../src/core/merkle/merkle-reference.test-support.js';
import { ungrownTrees } from '../src/store/journal/merkle-trees.js';
import { rememberDeployment } from './lose-tail.js';
import { codeOf, plantDeployment, prepareHouse, refusalOf } from './running-runtime.js';

const house = await prepareHouse();
const signingKeys = parseSigningKeys(`orrery.example+${'11'.repeat(32)}\norrery.example+${'22'.repeat(32)}`);
const { context } = await house.boot({ ...(signingKeys && { signingKeys }) });
type Planted = Awaited<ReturnType<typeof plantDeployment>>;

const query = <Row>(text: string, values: unknown[] = []) =>
  withClient(house.databaseUrl, async (client) => (await client.query(text, values)).rows as Row[]);

async function hashesOf({ deployment }: Planted): Promise<Buffer[]> {
  const rows = await query<{ hash: string }>(
    'select hash from runtime.journal where deployment_id = $1 order by seq',
    [deployment.id],
  );
  return rows.map(({ hash }) => Buffer.from(hash, 'hex'));
}

/** A journal of so many entries. */
async function live(entries: number, within = house) {
  const planted = await plantDeployment(within);
  for (let left = entries - 1; left > 0; left -= 200)
    await Promise.all(Array.from({ length: Math.min(left, 200) }, () => planted.execute({ id: 'q' })));
  return planted;
}

const headOf = async ({ params }: Planted) => (await house.call('history.head', { params })).data;
const proofOf = async ({ params }: Planted, seq: number, size: number) =>
  (await house.call('history.proof', { params, query: { seq: String(seq), size: String(size) } })).data;
const consistencyOf = async ({ params }: Planted, from: number, to: number) =>
  (await house.call('history.consistency', { params, query: { from: String(from), to: String(to) } })).data;
const hex = (nodes: Buffer[]) => nodes.map((node) => node.toString('hex'));

const other = await prepareHouse();
await other.boot();

const long = await live(1100);
const data = await hashesOf(long);

describe('the tree of a journal', () => {
  it('has the root over all entries, signed by each key', async () => {
    const head = await headOf(long);
    const root = mth(data);
    expect(head).toMatchObject({ size: 1100, generation: 1, lost: null, rootHash: root.toString('hex') });
    const { address } = long.deployment;
    const text = `orrery.example/${address}/1\n1100\n${root.toString('base64')}\n`;
    expect(head.checkpoint.startsWith(`${text}\n`)).toBe(true);
    const signatures = head.checkpoint.slice(text.length + 1).matchAll(/^\u2014 orrery\.example (\S+)$/gm);
    const right = [...signatures].map(([, signature = ''], at) => {
      const key = Buffer.from(head.keys[at]?.split('+').slice(2).join('+') ?? '', 'base64').subarray(1);
      const spki = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), key]);
      const publicKey = createPublicKey({ key: spki, format: 'der', type: 'spki' });
      return verify(null, Buffer.from(text), publicKey, Buffer.from(signature, 'base64').subarray(4));
    });
    expect(right).toEqual([true, true]);
  });

  it.each([
    [1, 1],
    [1, 1100],
    [256, 256],
    [257, 1100],
    [512, 900],
    [1025, 1100],
    [1100, 1100],
    [700, 1024],
  ])('has the inclusion proof of entry %i in the tree of %i', async (seq, size) => {
    const answered = await proofOf(long, seq, size);
    expect(answered.path).toEqual(hex(path(seq - 1, data.slice(0, size))));
    expect(answered.rootHash).toBe(mth(data.slice(0, size)).toString('hex'));
    expect(answered.leafHash).toBe(mth(data.slice(seq - 1, seq)).toString('hex'));
  });

  it.each([
    [1, 1100],
    [255, 257],
    [256, 1024],
    [300, 999],
    [1024, 1100],
    [1030, 1100],
    [1100, 1100],
  ])('has the consistency proof from %i to %i', async (from, to) => {
    const answered = await consistencyOf(long, from, to);
    expect(answered.path).toEqual(hex(proof(from, data.slice(0, to))));
    expect(answered.fromRootHash).toBe(mth(data.slice(0, from)).toString('hex'));
    expect(answered.toRootHash).toBe(mth(data.slice(0, to)).toString('hex'));
  });

  it('stores one node for each block and each pair of nodes below another', async () => {
    const [counted] = await query<{ nodes: number }>(
      'select count(*)::integer as nodes from runtime.merkle_nodes where deployment_id = $1',
      [long.deployment.id],
    );
    expect(counted).toEqual({ nodes: 4 + 2 + 1 });
  });

  it('proves the same of blocks that an earlier release added, which have no parts', async () => {
    const planted = await live(600);
    const answers = async () => [await proofOf(planted, 300, 600), await consistencyOf(planted, 77, 590)];
    await headOf(planted);
    const before = await answers();
    await query('update runtime.merkle_nodes set parts = null where deployment_id = $1', [
      planted.deployment.id,
    ]);
    expect(await answers()).toEqual(before);
  });

  it('grows on where it was given up on the way, by any process', async () => {
    const planted = await live(600);
    const { id } = planted.deployment;
    const find = async () =>
      (await ungrownTrees(context.db, { minute: 0, deploymentId: 0 }, 1000)).filter(
        ({ deploymentId }) => deploymentId === id,
      );
    expect(await find()).toMatchObject([{ deploymentId: id, entries: 600 }]);
    const bounds = { signal: AbortSignal.timeout(30_000), isEnough: () => true };
    expect(await context.growTree(id, 600, bounds)).toBe(0);
    const all = { ...bounds, isEnough: () => false };
    expect(await Promise.all([context.growTree(id, 300, all), context.growTree(id, 600, all)])).toContain(
      512,
    );
    expect(await find()).toEqual([]);
    expect((await headOf(planted)).rootHash).toBe(mth(await hashesOf(planted)).toString('hex'));
  });
});

it('grows by itself, over the journals that a process finds when it starts', async () => {
  const { deployment } = await live(600, other);
  await other.boot();
  const size = () =>
    withClient(other.databaseUrl, async (client) => {
      const text = 'select size::integer from runtime.merkle_heads where deployment_id = $1';
      return (await client.query(text, [deployment.id])).rows;
    });
  await expect.poll(size).toEqual([{ size: 512 }]);
});

describe('what is asked beyond the journal', () => {
  it('is refused with how far it goes', async () => {
    const planted = await live(3);
    const beyond = await refusalOf(proofOf(planted, 1, 4));
    expect([beyond.code, beyond.errors[0]]).toMatchObject([
      'validation_failed',
      { pointer: '#query/size', message: 'The journal has the entries 1 to 3.' },
    ]);
    expect((await refusalOf(proofOf(planted, 3, 2))).errors[0]?.pointer).toBe('#query/seq');
    expect((await refusalOf(consistencyOf(planted, 3, 2))).errors[0]?.pointer).toBe('#query/from');
    expect((await refusalOf(consistencyOf(planted, 3, 4))).errors[0]?.pointer).toBe('#query/to');
    expect(await codeOf(proofOf(planted, 0, 2))).toBe('validation_failed');
  });
});

describe('a database that was changed', () => {
  it('keeps its root, and gives no proof of entries that are no longer those', async () => {
    const planted = await live(300);
    const before = await headOf(planted);
    await query(`update runtime.journal set hash = $2 where deployment_id = $1 and seq = 7`, [
      planted.deployment.id,
      'f'.repeat(64),
    ]);
    expect(await headOf(planted)).toEqual(before);
    expect(await codeOf(proofOf(planted, 9, 300))).toBe('history_broken');
    expect(await codeOf(consistencyOf(planted, 10, 300))).toBe('history_broken');
    expect((await proofOf(planted, 290, 300)).rootHash).toBe(before.rootHash);
  });

  it('gives no proof by parts that are not those of their block', async () => {
    const planted = await live(300);
    await headOf(planted);
    const where = 'where deployment_id = $1 and parts is not null';
    await query(
      `update runtime.merkle_nodes set parts = set_byte(parts, 40, get_byte(parts, 40) # 1) ${where}`,
      [planted.deployment.id],
    );
    expect(await codeOf(consistencyOf(planted, 100, 300))).toBe('history_broken');
  });

  it('gives no root where an entry is missing', async () => {
    const planted = await live(4);
    await query('delete from runtime.journal where deployment_id = $1 and seq = 3', [planted.deployment.id]);
    expect(await codeOf(headOf(planted))).toBe('history_broken');
  });
});

it('begins another generation where the database lost entries, which names the lost end', async () => {
  const planted = await live(3);
  const pool = { query: async (text: string, values: unknown[]) => ({ rows: await query(text, values) }) };
  const goBack = await rememberDeployment(pool as never, planted.deployment.id);
  await planted.execute({ id: 'q' });
  const lost = await headOf(planted);
  const [last] = await planted.history();
  await goBack();
  await planted.execute({ id: 'q' });
  const head = await headOf(planted);
  const end = { seq: 4, hash: last?.hash };
  expect([lost.generation, head.generation, head.lost]).toEqual([1, 2, end]);
  expect(head.origin).toBe(`orrery.example/${planted.deployment.address}/2`);
  expect(head.checkpoint).toContain(`\nlost 4 ${last?.hash}\n\n`);
  // Also once the entry that says so lies deep in the tree.
  for (let left = 300; left > 0; left -= 100)
    await Promise.all(Array.from({ length: 100 }, () => planted.execute({ id: 'q' })));
  expect(await headOf(planted)).toMatchObject({ generation: 2, lost: end });
});

it('says what to set where there is no key, and proves all the same', async () => {
  const planted = await plantDeployment(other);
  const refused = await refusalOf(other.call('history.head', { params: planted.params }));
  expect(refused.code).toBe('signing_unavailable');
  expect(refused.message).toContain('ORRERY_SIGNING_KEY_FILE');
  const asked = { params: planted.params, query: { seq: '1', size: '1' } };
  expect((await other.call('history.proof', asked)).data).toMatchObject({ path: [] });
});

describe('the head before a time, as it is pushed to chains', () => {
  const ask = ({ deployment }: Planted, from: number, before: string) =>
    house.ask('journal.headBefore', { deployment: deployment.address, from, before });
  const timesOf = async ({ deployment }: Planted) =>
    (
      await query<{ at: Date }>(
        'select executed_at as at from runtime.journal where deployment_id = $1 order by seq',
        [deployment.id],
      )
    ).map(({ at }) => at.toISOString());

  it('covers the entries before it, however many came since', async () => {
    const times = await timesOf(long);
    for (const seq of [2, 300, 512, 1000, 1100]) {
      const before = times[seq - 1] as string;
      const size = times.filter((time) => time < before).length;
      expect((await ask(long, 1, before)).head).toEqual({
        generation: 1,
        size,
        rootHash: mth(data.slice(0, size)).toString('hex'),
        entryHash: data[size - 1]?.toString('hex'),
      });
    }
  });

  it('is not told while an entry may come before the time, nor where what noted it is gone', async () => {
    const planted = await live(3);
    const [, , third = ''] = await timesOf(planted);
    const soon = new Date(Date.parse(third) + 1).toISOString();
    expect(await ask(planted, 2, soon)).toEqual({ head: null });
    const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
    expect(await ask(planted, 2, inAnHour)).toEqual({ head: null });
    expect(await ask(planted, 4, third)).toEqual({ head: null });
  });

  it('is of the generation that the journal had then', async () => {
    const planted = await live(3);
    const pool = { query: async (text: string, values: unknown[]) => ({ rows: await query(text, values) }) };
    const goBack = await rememberDeployment(pool as never, planted.deployment.id);
    await planted.execute({ id: 'q' });
    await goBack();
    for (const id of ['q', 'r']) await planted.execute({ id });
    // Entries of one millisecond would belong together.
    await query(
      `update runtime.journal set executed_at = executed_at - (9 - seq) * interval '1 second' where deployment_id = $1`,
      [planted.deployment.id],
    );
    const times = await timesOf(planted);
    const generations = [4, 5, 6].map(async (seq) => (await ask(planted, 1, times[seq - 1] ?? '')).head);
    expect(await Promise.all(generations)).toMatchObject([
      { size: 3, generation: 1 },
      { size: 4, generation: 2 },
      { size: 5, generation: 2 },
    ]);
  });

  it('is refused of a deployment that there is not', async () => {
    const absent = { deployment: { address: `0x${'0'.repeat(40)}` } } as Planted;
    expect(await codeOf(ask(absent, 1, new Date().toISOString()))).toBe('deployment_not_found');
  });
});
