import { randomUUID } from 'node:crypto';
import { type HashedEntry, type HistoryEntry, hashedEntry, runtimeContract } from '@orrery/contracts';
import { hashOf } from '@orrery/deciding';
import { withClient } from '@orrery/testing/servers';
import { describe, expect, it, vi } from 'vitest';
import { createDeciderDouble } from './decider-double.js';
import { sendsTo } from './paying.js';
import { OTHER, plantDeployment, prepareHouse, refusalOf } from './running-runtime.js';

const house = await prepareHouse();
const decider = createDeciderDouble();
await house.boot({ decider: decider.decider, soleProcess: true });

const WORD = '{{ input.word == "sesame-SECRET-42" ? 1 : fail("Wrong word.") }}';
const KEY = '{{ {"sesame-SECRET-42": 1}[input.word] }}';
const SECRET = /SECRET|\{\{/;
/** What everybody may read of the failure, and what the owner may. */
const FAILURES = {
  guess: { detail: 'Wrong word.', whole: 'Wrong word.', placeholder: WORD, reason: 'Wrong word.' },
  open: {
    detail: 'There is no "sesame-SECRET-43".',
    whole: `${KEY}: There is no "sesame-SECRET-43". Did you mean "sesame-SECRET-42"?`,
    placeholder: KEY,
    reason: 'There is no "sesame-SECRET-43". Did you mean "sesame-SECRET-42"?',
  },
};
const INPUT = { word: 'sesame-SECRET-43' };
const pointer = '/result/{{ "a" }}';
const visibility = 'public' as const;
for (const [event, { placeholder }] of Object.entries(FAILURES))
  house.catalog.plantVersion({
    event,
    versionId: 300 + event.length,
    inputSchema: { word: 'string' },
    mutationSettings: { mode: 'direct', template: { result: { '{{ "a" }}': placeholder } } },
    executionSettings: { visibility },
  });
house.catalog.plantVersion({
  event: 'judged',
  versionId: 310,
  behaviorPrompt: 'Judge.',
  inputSchema: { word: 'string' },
  stateChanges: { counter: 'partial' },
  followUps: [{ event: 'guess', input: { word: KEY } }],
});

type Event = keyof typeof FAILURES;
const EVENTS = Object.keys(FAILURES) as Event[];

async function plant() {
  const bindings = [...EVENTS, 'judged'].map((event) => ({ event, eventVersion: 1 }));
  const planted = await plantDeployment(house, { bindings });
  await house.call('deployments.publish', { params: planted.params });
  const entry = async (historyId: string, accountId?: number) =>
    (
      await house.call(
        'history.get',
        { params: { ...planted.params, historyId } },
        accountId ? { accountId } : {},
      )
    ).data as HistoryEntry;
  const latest = async () => entry((await planted.history({ limit: '1' }))[0]?.id ?? '');
  return { ...planted, entry, latest, send: sendsTo(house, planted.deployment.address) };
}

const asStranger = async (
  name: 'history.list' | 'history.published' | 'history.get',
  params: object,
): Promise<string> => {
  const request = { params, query: {}, headers: {}, body: {} };
  const caller = { kind: 'anonymous' } as const;
  const call = { caller, requestId: randomUUID(), deadline: Date.now() + 30_000 };
  return JSON.stringify(await house.bus.call(runtimeContract.rpcs[name], request as never, call));
};

describe.each(EVENTS)('the template of "%s"', (event) => {
  const { detail, whole, placeholder, reason } = FAILURES[event];
  const hidden = (text: string) => expect(text.replaceAll(INPUT.word, '')).not.toMatch(SECRET);

  it('is shown to nobody when a wallet makes it fail, and to its owner', async () => {
    const { send, params, latest } = await plant();
    const at = Date.now();
    for (const error of [
      await refusalOf(send({ event, input: INPUT, at })),
      // The stored answer to the same message.
      await refusalOf(send({ event, input: INPUT, at })),
    ])
      expect(error).toMatchObject({
        code: 'template_failed',
        message: detail,
        facts: { reason: detail, seq: expect.any(Number), historyId: expect.any(String) },
      });
    const { id, seq, deployment, ...entry } = await latest();
    expect(entry).toMatchObject({
      error: { code: 'template_failed', detail, facts: { reason: detail } },
      failedCode: { placeholder, pointer, reason },
    });
    for (const name of ['history.list', 'history.published'] as const) hidden(await asStranger(name, params));
    hidden(await asStranger('history.get', { ...params, historyId: id }));
    // What streams, webhooks and chains are made of.
    const { entries } = await house.ask('journal.range', { deployment, after: seq - 1, limit: 1 });
    expect(entries).toHaveLength(1);
    hidden(JSON.stringify(entries));
  });

  it('is shown to its owner in answers, also repeated ones, and in dry runs', async () => {
    const { execute } = await plant();
    const headers = { 'idempotency-key': randomUUID() };
    for (const sent of [{ headers }, { headers }, { query: { dryRun: 'true' } }])
      expect(await refusalOf(execute(INPUT, sent, event))).toMatchObject({
        message: whole,
        facts: { placeholder, pointer, reason },
      });
  });

  it('is shown to its owner where nobody waits for the answer', async () => {
    const { execute, params } = await plant();
    const { data } = await execute(INPUT, { headers: { prefer: 'respond-async' } }, event);
    const { executionId } = data as { executionId: string };
    await vi.waitFor(async () => {
      const { data: run } = await house.call('executions.get', { params: { ...params, executionId } });
      expect(run).toMatchObject({ state: 'failed', error: { detail: whole, facts: { placeholder } } });
    });
  });

  it('is shown to others where the deployment says that its code is public', async () => {
    const { send, params, latest, entry } = await plant();
    await refusalOf(send({ event, input: INPUT }));
    const { id } = await latest();
    expect(await entry(id, OTHER)).not.toHaveProperty('failedCode');
    await house.call('deployments.update', { params, body: { isCodePublic: true } });
    expect(await entry(id, OTHER)).toHaveProperty('failedCode', { placeholder, pointer, reason });
    expect(await asStranger('history.get', { ...params, historyId: id })).toContain('failedCode');
  });
});

it('a timer that fails tells its owner where', async () => {
  const { execute, latest } = await plant();
  await execute({}, { body: { event: 'guess', input: INPUT, after: 'PT1S' } });
  await vi.waitFor(async () =>
    expect(await latest()).toMatchObject({
      trigger: 'timer',
      error: { facts: { reason: 'Wrong word.' } },
      failedCode: { placeholder: WORD },
    }),
  );
});

it("a follow-up that a model's answer makes fail is shown to its owner alone", async () => {
  const { execute, latest, params } = await plant();
  const refused = refusalOf(execute(INPUT, {}, 'judged'));
  (await decider.called()).answer({ 'counter:c': { count: 1 } });
  await refused;
  const { id, error, failedCode } = await latest();
  expect(error).toMatchObject({ code: 'ai_output_invalid', detail: FAILURES.open.detail });
  expect(failedCode).toMatchObject({ placeholder: KEY, pointer: '/followUps/0/input/word' });
  const shown = await asStranger('history.get', { ...params, historyId: id });
  expect(shown.replaceAll(INPUT.word, '')).not.toMatch(SECRET);
});

it('entries of earlier releases, which hold the text, verify and are decided again as new ones', async () => {
  const { send, params, latest, deployment } = await plant();
  await refusalOf(send({ event: 'open', input: INPUT }));
  const verified = async () =>
    (await house.call('history.verify', { params, query: { decisions: 'true' } })).data as object;
  const rerun = { valid: true, firstDivergence: null, decisions: { rerun: 1, notRerun: {} } };
  expect(await verified()).toMatchObject(rerun);
  const { placeholder, reason, whole } = FAILURES.open;
  const error = { code: 'template_failed', detail: whole, facts: { placeholder, pointer, reason } };
  const old = { ...(await latest()), error };
  const covered = Object.keys(hashedEntry.shape).filter((member) => member in old);
  const hash = hashOf(
    Object.fromEntries(covered.map((member) => [member, old[member as keyof typeof old]])) as HashedEntry,
  );
  await withClient(house.databaseUrl, async (client) => {
    const place = [deployment.id, old.seq];
    await client.query(
      'update runtime.journal set error = $3, hash = $4, failed_code = null where deployment_id = $1 and seq = $2',
      [...place, JSON.stringify(error), hash],
    );
    await client.query('update runtime.journal_heads set hash = $3 where deployment_id = $1 and seq = $2', [
      ...place,
      hash,
    ]);
  });
  expect(await verified()).toMatchObject(rerun);
  expect(await latest()).toMatchObject({ error, hash });
});
