import { createHash, createHmac } from 'node:crypto';
import { canonicalHash, type HashedEntry, type HistoryEntry, type JsonObject } from '@orrery/contracts';
import { hashOf } from '@orrery/deciding';
import { withClient } from '@orrery/testing/servers';
import { expect, it } from 'vitest';
import { rememberDeployment } from './lose-tail.js';
import { codeOf, plantDeployment, prepareHouse } from './running-runtime.js';

const house = await prepareHouse();
const direct = (template: JsonObject) => ({ mode: 'direct' as const, template });
const DIE = '{{ random.int(1, 1000000) }}';
house.catalog.plantVersion({
  event: 'roll',
  versionId: 90,
  mutationSettings: direct({
    'counter:{{ input.id }}': { count: DIE, label: '{{ has(input.fails) ? fail("no luck") : "a" }}' },
  }),
});
house.catalog.plantVersion({
  event: 'later',
  versionId: 91,
  mutationSettings: direct({ result: { seen: true } }),
  followUps: [{ event: 'roll', input: { id: 'a' }, after: 'PT{{ random.int(1, 50) }}H' }],
});
house.catalog.plantVersion({
  event: 'maybe',
  versionId: 92,
  mutationSettings: direct({ result: { r: '{{ input.draw ? random.float() : 0 }}' } }),
});
const BINDINGS = ['increment', 'roll', 'later', 'maybe'].map((event) => ({ event, eventVersion: 1 }));
const first = await house.boot({ soleProcess: true });

const plant = (body: object = {}) => plantDeployment(house, { bindings: BINDINGS, ...body });
type Planted = Awaited<ReturnType<typeof plant>>;

const entriesOf = async ({ history }: Planted): Promise<HistoryEntry[]> =>
  (await history({ include: 'all', limit: '100' })).reverse();
const drawn = async (planted: Planted) =>
  (await entriesOf(planted)).flatMap((entry) =>
    entry.randomness ? [{ ...entry, ...entry.randomness }] : [],
  );
const kindsOf = async (planted: Planted) => (await entriesOf(planted)).map(({ kind }) => kind);
const reveal = async ({ params }: Planted) =>
  (await house.call('deployments.revealRandomness', { params })).data;
const verifyDecisions = async ({ params }: Planted) => {
  const { data } = await house.call('history.verify', { params, query: { decisions: 'true' } });
  return data as { valid: boolean; firstDivergence: object | null; decisions: object };
};

it('commits to a secret before the first draw, and to no other after it', async () => {
  const planted = await plant();
  await planted.execute({ id: 'x' });
  await planted.execute({ draw: false }, {}, 'maybe');
  expect(await kindsOf(planted)).not.toContain('randomness_committed');
  await planted.execute({ id: 'a' }, {}, 'roll');
  await planted.execute({ id: 'a' }, {}, 'roll');
  await planted.execute({ id: 'a', fails: true }, {}, 'roll').catch(() => undefined);
  expect((await kindsOf(planted)).slice(-4)).toEqual(['randomness_committed', ...Array(3).fill('execution')]);
  const entries = await entriesOf(planted);
  const { commitment } = entries.find(({ kind }) => kind === 'randomness_committed')?.input ?? {};
  expect(entries.filter(({ event }) => event !== 'roll').every(({ randomness }) => !randomness)).toBe(true);
  const draws = await drawn(planted);
  expect(draws).toHaveLength(3);
  expect(new Set(draws.map(({ seed }) => seed)).size).toBe(3);
  for (const draw of draws) expect(draw.randomness).toMatchObject({ source: 'deployment', commitment });
  expect(await planted.verify()).toMatchObject({ valid: true });
});

it('reveals what seeds were made of, so that a stranger computes them, and uses another secret from then on', async () => {
  const planted = await plant();
  for (const id of ['a', 'b']) await planted.execute({ id }, {}, 'roll');
  const { secrets, seq } = await reveal(planted);
  const [{ secret = '', commitment = '' } = {}] = secrets;
  const key = Buffer.from(secret, 'hex');
  expect(createHash('sha256').update(key).digest('hex')).toBe(commitment);
  for (const { run = '', seed, input, changes } of await drawn(planted)) {
    expect(
      createHmac('sha256', key)
        .update(`${run}${canonicalHash(input)}`)
        .digest('hex'),
    ).toBe(seed);
    const draw = createHmac('sha256', Buffer.from(seed, 'hex')).update(Buffer.alloc(8)).digest();
    expect(changes[0]?.set['count']).toBe(Number(draw.readBigUInt64BE(0) % 1_000_000n) + 1);
  }
  expect((await entriesOf(planted)).at(-1)).toMatchObject({
    ...{ kind: 'randomness_revealed', seq, caller: 'account:1' },
    input: { secrets: [{ commitment, secret }] },
  });
  expect(await reveal(planted)).toEqual({ secrets: [], seq: null });
  await planted.execute({ id: 'c' }, {}, 'roll');
  const [next] = (await drawn(planted)).slice(-1);
  expect(next?.commitment).not.toBe(commitment);
  expect((await kindsOf(planted)).slice(-2)).toEqual(['randomness_committed', 'execution']);
});

it('reveals with the deletion, before the entry that ends the journal', async () => {
  const planted = await plant();
  await planted.execute({ id: 'a' }, {}, 'roll');
  await house.call('deployments.delete', { params: planted.params });
  const { rows } = await withClient(house.databaseUrl, (client) =>
    client.query(
      `select j.kind from runtime.journal j join runtime.deployments d on d.id = j.deployment_id
       where d.address = $1 order by j.seq desc limit 2`,
      [planted.deployment.address],
    ),
  );
  expect(rows.map(({ kind }) => kind)).toEqual(['deleted', 'randomness_revealed']);
});

it('draws for follow-ups, and for runs in the name of the run', async () => {
  const planted = await plant();
  await planted.execute({}, {}, 'later');
  const [later] = await drawn(planted);
  expect(later).toMatchObject({ event: 'later', timers: [{ event: 'roll' }] });
  const headers = { prefer: 'respond-async' };
  const answer = (await planted.execute({ id: 'b' }, { headers }, 'roll')) as { data: JsonObject };
  const { executionId } = answer.data as { executionId: string };
  await expect
    .poll(async () => (await drawn(planted)).at(-1))
    .toMatchObject({ event: 'roll', run: executionId });
});

it('a dry run draws something else and leaves nothing', async () => {
  const planted = await plant();
  const tried = () => planted.execute({ id: 'a' }, { query: { dryRun: 'true' } }, 'roll');
  const answers = await Promise.all([tried(), tried()]);
  const counts = answers.map(({ data }) => JSON.stringify((data as { stateChanges: object }).stateChanges));
  expect(counts[0]).not.toBe(counts[1]);
  expect(await kindsOf(planted)).toEqual(['deployment_created']);
});

it('a clone has secrets of its own, and a what-if draws what was drawn', async () => {
  const planted = await plant();
  await planted.execute({ id: 'a' }, {}, 'roll');
  const [original] = await drawn(planted);
  const sourceDeployment = planted.deployment.address;
  const clone = await plantDeployment(house, { bindings: [], sourceDeployment });
  await clone.execute({ id: 'a' }, {}, 'roll');
  expect((await drawn(clone))[0]?.commitment).not.toBe(original?.commitment);
  const fork = await plantDeployment(house, {
    ...{ name: 'What if', bindings: [], purpose: 'what_if', sourceDeployment, sourceSeq: 1 },
  });
  const { data } = await house.call('deployments.replay', {
    params: fork.params,
    body: { seq: original?.seq },
  });
  expect(data.entry?.randomness).toEqual({ source: 'replayed', seed: original?.seed });
  expect(data.entry?.changes[0]?.set).toEqual(original?.changes[0]?.set);
  expect(await kindsOf(fork)).not.toContain('randomness_committed');
});

it('computes every decision that drew again, and sees what was drawn otherwise', async () => {
  const planted = await plant();
  for (const id of ['a', 'b', 'c']) await planted.execute({ id }, {}, 'roll');
  await planted.execute({ id: 'a', fails: true }, {}, 'roll').catch(() => undefined);
  await planted.execute({ draw: true }, {}, 'maybe');
  expect(await verifyDecisions(planted)).toMatchObject({
    valid: true,
    decisions: { rerun: 5, notRerun: {}, seeds: { checked: 5, notChecked: {} } },
  });
  await reveal(planted);
  await planted.execute({ id: 'a' }, {}, 'roll');
  expect(await verifyDecisions(planted)).toMatchObject({ valid: true, decisions: { rerun: 6 } });
  const tamper = (change: (recorded: JsonObject) => JsonObject | null) =>
    rewriteLast(planted.deployment.address, change);
  // A seed that somebody liked better, with what it gives.
  const { seq, undo } = await tamper(({ randomness }) => ({
    randomness: { ...(randomness as JsonObject), seed: '1'.repeat(64) },
  }));
  expect(await verifyDecisions(planted)).toMatchObject({ firstDivergence: { seq, what: 'draws_differ' } });
  await undo();
  // A secret that the journal never committed to.
  const { undo: undoOther } = await tamper(({ randomness }) => ({
    randomness: { ...(randomness as JsonObject), commitment: '2'.repeat(64) },
  }));
  expect(await verifyDecisions(planted)).toMatchObject({ firstDivergence: { seq, what: 'draws_differ' } });
  await undoOther();
  // Numbers of which nothing is said.
  const { undo: undoLast } = await tamper(() => null);
  expect(await verifyDecisions(planted)).toMatchObject({
    firstDivergence: { seq, what: 'decision_differs' },
  });
  await undoLast();
  expect(await verifyDecisions(planted)).toMatchObject({ valid: true });
});

it('a journal that lost its end uses no secret any more that the lost end may have revealed', async () => {
  const planted = await plant();
  const query = (text: string, values: unknown[]) =>
    withClient(house.databaseUrl, (client) => client.query(text, values));
  await planted.execute({ id: 'a' }, {}, 'roll');
  const goBack = await rememberDeployment({ query } as never, planted.deployment.id);
  const [{ secret = '', commitment = '' } = {}] = (await reveal(planted)).secrets;
  await goBack();
  await planted.execute({ id: 'a' }, {}, 'roll');
  expect((await kindsOf(planted)).slice(-3)).toEqual(['tail_lost', 'randomness_committed', 'execution']);
  const [before, after] = await drawn(planted);
  expect(before?.commitment).toBe(commitment);
  expect(after?.commitment).not.toBe(commitment);
  const seed = createHmac('sha256', Buffer.from(secret, 'hex'));
  expect(after?.seed).not.toBe(
    seed.update(`${after?.run}${canonicalHash(after?.input as JsonObject)}`).digest('hex'),
  );
  // It is revealed once more, since the entry that did so is gone.
  const { secrets } = await reveal(planted);
  expect(secrets.map((one) => one.commitment)).toEqual([commitment, after?.commitment]);
  expect(secrets[0]?.secret).toBe(secret);
  expect(await verifyDecisions(planted)).toMatchObject({ valid: true });
});

it('another process goes on with the same secret, and one with other keys with another', async () => {
  const planted = await plant();
  await planted.execute({ id: 'a' }, {}, 'roll');
  await first[Symbol.asyncDispose]();
  const keys = [Buffer.alloc(32, 9), Buffer.alloc(32, 7)];
  const second = await house.boot({ randomnessKeys: keys });
  await planted.execute({ id: 'a' }, {}, 'roll');
  const [one, two] = await drawn(planted);
  expect(two?.commitment).toBe(one?.commitment);
  await second[Symbol.asyncDispose]();
  const third = await house.boot({ randomnessKeys: keys.slice(0, 1) });
  await planted.execute({ id: 'a' }, {}, 'roll');
  expect((await drawn(planted))[2]?.commitment).not.toBe(one?.commitment);
  // What no key opens refutes nothing, and is not revealed.
  expect(await verifyDecisions(planted)).toMatchObject({ valid: true });
  expect((await reveal(planted)).secrets).toHaveLength(1);
  await third[Symbol.asyncDispose]();
  const fourth = await house.boot({ randomnessKeys: keys });
  expect((await reveal(planted)).secrets).toMatchObject([{ commitment: one?.commitment }]);
  await fourth[Symbol.asyncDispose]();
  const without = await house.boot({ randomnessKeys: [] });
  expect(await codeOf(planted.execute({ id: 'a' }, {}, 'roll'))).toBe('randomness_unavailable');
  await planted.execute({ id: 'a' });
  await without[Symbol.asyncDispose]();
});

/** Writes what the last entry records anew, and its hash, as somebody with the database could. */
async function rewriteLast(address: string, change: (recorded: JsonObject) => JsonObject | null) {
  const write = (recorded: JsonObject | null, hash: string) =>
    withClient(house.databaseUrl, async (client) => {
      const of = `(select id from runtime.deployments where address = '${address}')`;
      await client.query(
        `update runtime.journal set recorded = $1, hash = $2 where deployment_id = ${of}
         and seq = (select max(seq) from runtime.journal where deployment_id = ${of})`,
        [recorded && JSON.stringify(recorded), hash],
      );
      await client.query(`update runtime.journal_heads set hash = $1 where deployment_id = ${of}`, [hash]);
    });
  const [last] = await withClient(house.databaseUrl, async (client) => {
    const { rows } = await client.query(
      `select j.*, d.address from runtime.journal j join runtime.deployments d on d.id = j.deployment_id
       where d.address = $1 order by j.seq desc limit 1`,
      [address],
    );
    return rows;
  });
  const recorded = last.recorded as JsonObject;
  const changed = change(recorded);
  await write(changed, hashOf(entryOf(last, changed)));
  return { seq: Number(last.seq), undo: () => write(recorded, last.hash) };
}

const entryOf = (row: Record<string, never> & { decided_at: Date; executed_at: Date }, recorded: unknown) =>
  ({
    ...{ v: row['v'], deployment: row['address'], id: row['id'], seq: Number(row['seq']), kind: row['kind'] },
    ...{ event: row['event'], eventVersion: row['event_version'], versionHash: row['version_hash'] },
    ...{ trigger: row['trigger'], caller: row['caller'], status: row['status'], input: row['input'] },
    ...{ changes: row['changes'], result: row['result'], error: row['error'], llmHash: row['llm_hash'] },
    ...{ attestation: row['attestation'], paymentKey: row['payment_key'], prevHash: row['prev_hash'] },
    ...{ executedAt: row.executed_at.toISOString(), decidedAt: row.decided_at.toISOString() },
    evaluator: row['evaluator'],
    ...(recorded as object),
  }) as unknown as HashedEntry;
