import { type Caller, runtimeContract } from '@orrery/contracts';
import { connect, type Database } from '@orrery/database';
import { createLogger } from '@orrery/service-kit';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RuntimeSchema } from '../src/store/tables/schema.js';
import { createDeciderDouble } from './decider-double.js';
import { attribute, incrementVersion } from './fake-catalog.js';
import { modelNamed } from './model-double.js';
import { type PublicReply, WALLET } from './paying.js';
import { codeOf, type House, plantDeployment, prepareHouse, refusalOf } from './running-runtime.js';

const house: House = await prepareHouse();
const decider = createDeciderDouble();
let database: Database<RuntimeSchema>;

const CALLER: Caller = { kind: 'wallet', wallet: WALLET };
const publicly = { executionSettings: { visibility: 'public' as const } };
const { 'executions.public': executePublicly } = runtimeContract.rpcs;
const EVENTS = ['open', 'open:race', 'レース:🐎', 'judged', 'priced', 'increment'];

beforeAll(async () => {
  const logger = createLogger({ service: 'test', level: 'error' });
  const address = { url: house.databaseUrl, schema: 'runtime', applicationName: 'test', logger };
  database = house.resources.use('looking on', await connect<RuntimeSchema>(address));
  house.catalog.plantSchema('mark', [attribute('by', 'string')]);
  const marking = {
    ...incrementVersion,
    ...publicly,
    stateChanges: { counter: 'partial' as const, mark: 'partial' as const },
    mutationSettings: {
      mode: 'direct' as const,
      template: {
        'counter:{{input.id}}': { count: { $increment: 1 } },
        'mark:last': { by: '{{walletAddress}}' },
      },
    },
  };
  for (const event of ['open', 'open:race', 'レース:🐎']) house.catalog.plantVersion({ ...marking, event });
  house.catalog.plantVersion({
    ...marking,
    event: 'priced',
    executionSettings: { visibility: 'public', priceUsd: 0.01 },
  });
  house.catalog.plantVersion({
    event: 'judged',
    behaviorPrompt: 'Judge.',
    inputSchema: { id: 'string' },
    stateChanges: { counter: 'partial' },
    ...publicly,
  });
  const models = [{ ...modelNamed('priced', true), inputUsdPerMillionTokens: 1 }];
  await house.boot({ decider: decider.decider, models });
});

interface Sent {
  event?: string;
  input?: object;
  message?: string | null;
  at?: number | string;
  path?: string;
  caller?: Caller;
  awaitsRun?: boolean;
}

async function plant({ isPublic = true } = {}) {
  const bindings = EVENTS.map((event) => ({ event, eventVersion: 1 }));
  const planted = await plantDeployment(house, { bindings });
  if (isPublic) await house.call('deployments.publish', { params: planted.params });
  const { address } = planted.deployment;
  const messageOf = (event: string, at: number | string = Date.now()) => `orrery:${address}:${event}:${at}`;
  const send = ({ event = 'open', input = { id: 'a' }, at, path = address, ...sent }: Sent = {}) => {
    const { message = messageOf(event, at), caller = CALLER, awaitsRun } = sent;
    const resource = 'http://localhost:3000/app/x';
    const request = { deployment: path, event, input, message, resource, awaitsRun };
    const call = { caller, requestId: 'test', deadline: Date.now() + 20_000 };
    return house.bus.call(executePublicly, request as never, call) as Promise<PublicReply>;
  };
  return { ...planted, address, messageOf, send };
}

describe('a public execution', () => {
  it('is recorded as the wallet’s, which its template sees', async () => {
    const { send, history, params } = await plant();
    const { data, payment } = await send();
    expect([data.seq, payment]).toEqual([3, null]);
    expect(data.stateChanges).toMatchObject({ 'mark:last': { by: WALLET } });
    expect(await history()).toMatchObject([{ trigger: 'public', caller: `wallet:${WALLET}` }]);
    const byTrigger = await house.call('history.list', { params, query: { trigger: 'public' } });
    expect(byTrigger.pagination).toMatchObject({ total: 1 });
    expect((await house.call('history.verify', { params })).data.valid).toBe(true);
  });

  it.each(['open:race', 'レース:🐎'])('may be of the event %s', async (event) => {
    expect((await (await plant()).send({ event })).data.event).toBe(event);
  });

  it('may name the deployment by its id, or by its address in capitals', async () => {
    const { send, deployment, address } = await plant();
    expect(await send({ path: String(deployment.id) })).toMatchObject({ data: { seq: 3 } });
    const capitals = `0x${address.slice(2).toUpperCase()}`;
    const message = `orrery:${capitals}:open:${Date.now() - 1}`;
    expect(await send({ path: capitals, message })).toMatchObject({ data: { seq: 4 } });
  });

  it('beyond a budget tells neither it nor what is spent, and its entry does not either', async () => {
    const { send, params, execute } = await plant();
    await house.call('deployments.update', { params, body: { aiDailyBudgetUsd: 7654.5 } });
    const spendTooMuch = async () => {
      const call = await decider.called();
      const most = { inputTokens: 1, outputTokens: 1, usd: 8765.25 };
      await call.request.budget.reserve(most, new AbortController().signal).catch(call.fail);
    };
    const shown = async (refusing: Promise<unknown>) => {
      const refused = refusalOf(refusing);
      await spendTooMuch();
      const { code, message, facts } = await refused;
      return { code, message, facts };
    };
    const sent = { event: 'judged', at: Date.now() };
    const told = await shown(send(sent));
    expect(told).toMatchObject({ code: 'budget_exhausted', facts: { limitedBy: 'deployment' } });
    const again = await refusalOf(send(sent));
    const ofOwner = await shown(execute({ id: 'a' }, {}, 'judged'));
    expect(ofOwner.facts).toMatchObject({ limitUsd: 7654.5, spentUsd: 0, requestUsd: 8765.25 });
    const published = await house.call('history.published', { params });
    expect(published.data).toMatchObject([{ status: 'failed' }, { status: 'failed' }]);
    const all = JSON.stringify([told, again.message, again.facts, ofOwner.message, published]);
    expect(all).not.toMatch(/limitUsd|spentUsd|requestUsd|7654|8765/);
  });

  it('is for wallets alone', async () => {
    const { send } = await plant();
    for (const caller of [{ kind: 'schedule', event: 'open' }, { kind: 'anonymous' }] as const)
      expect(await codeOf(send({ caller }))).toBe('forbidden');
  });
});

describe('a public execution is refused', () => {
  it('in the documented order, and leaves its message free', async () => {
    const { send, params, messageOf, history } = await plant({ isPublic: false });
    const at = Date.now();
    const bad = { event: 'increment', input: { id: 7 }, at };
    const expectCode = async (code: string, sent: Sent = bad) => expect(await codeOf(send(sent))).toBe(code);
    await house.call('deployments.pause', { params });
    await expectCode('message_mismatch', { ...bad, message: messageOf('unbound', at) });
    await expectCode('message_expired', { ...bad, at: at - 301_000 });
    await expectCode('deployment_not_public');
    await house.call('deployments.publish', { params });
    await expectCode('deployment_paused');
    await house.call('deployments.resume', { params });
    await expectCode('event_not_bound', { ...bad, event: 'unbound' });
    await expectCode('event_not_public');
    await expectCode('invalid_input', { ...bad, event: 'priced' });
    await expectCode('pay_to_address_missing', { event: 'priced', at });
    const payToAddress = `0x${'1'.repeat(40)}`;
    await house.call('deployments.update', { params, body: { payToAddress } });
    await expectCode('payment_required', { event: 'priced', at });
    await expectCode('invalid_input', { ...bad, event: 'open' });
    expect(await history()).toEqual([]);
    expect(await send({ event: 'open', at })).toMatchObject({ data: { event: 'open' } });
  });

  it('that names no bound event is told of none, since not all of them are public', async () => {
    const { send, deployment } = await plant();
    const told = async (event: string) => (await refusalOf(send({ event }))).message;
    for (const event of ['incremnt', 'zzz'])
      expect(await told(event)).toBe(
        `The event "${event}" is not bound in this deployment. GET /app/deployments/${deployment.address} lists the events that anyone may execute.`,
      );
  });

  it('for an unknown deployment', async () => {
    const { send } = await plant();
    for (const path of [`0x${'ab'.repeat(20)}`, '999999', 'nonsense', '0'])
      expect(await codeOf(send({ path }))).toBe('deployment_not_found');
  });

  it('by the id of a private or deleted deployment as by one that is nobody’s, without its address', async () => {
    const hidden = await plant({ isPublic: false });
    const deleted = await plant();
    const published = await plant();
    await house.call('deployments.delete', { params: deleted.params });
    const toldBy = async (path: string, sent: Sent) => {
      const { code, message, facts } = await refusalOf(hidden.send({ path, ...sent }));
      return { code, message, facts };
    };
    const guessed = `orrery:0x${'ab'.repeat(20)}:open:${Date.now()}`;
    const signed = (message: string): Sent => ({ message });
    const unsigned: Sent = { message: null, caller: { kind: 'anonymous' } };
    const none = await toldBy('999999', signed(guessed));
    expect(none.code).toBe('deployment_not_found');
    for (const { deployment, messageOf } of [hidden, deleted])
      for (const sent of [signed(guessed), signed('x'), signed(messageOf('open')), unsigned])
        expect(await toldBy(String(deployment.id), sent)).toEqual(none);
    expect((await toldBy(String(published.deployment.id), signed(guessed))).code).toBe('message_mismatch');
  });

  it('after its deployment is private again, unless it repeats: also by the id', async () => {
    const { send, deployment, params } = await plant();
    const sent = { path: String(deployment.id), at: Date.now() };
    const first = await send(sent);
    await house.call('deployments.unpublish', { params });
    expect(await send(sent)).toEqual(first);
    expect(await codeOf(send({ ...sent, at: sent.at + 1 }))).toBe('deployment_not_found');
  });

  it('when its text is another one, and is told which', async () => {
    const { send, address, messageOf } = await plant();
    const now = Date.now();
    const expected = `orrery:${address}:open:`;
    for (const message of [
      messageOf('other'),
      `orrery:0x${'ab'.repeat(20)}:open:${now}`,
      `oracle:${address}:open:${now}`,
      `${expected}${now} `,
      ` ${expected}${now}`,
      `${expected}`,
      `${expected}${String(now).slice(0, 12)}`,
      `${expected}0${now}`,
      `${expected}-${String(now).slice(1)}`,
      `${expected}2026-02-30T00:00:00Z`,
      `${expected}2026-01-01`,
      `${expected}2026-01-01T00:00:00`,
      `${expected}race:${now}`,
    ]) {
      const refusal = await refusalOf(send({ message }));
      expect([message, refusal.code, refusal.facts]).toEqual([message, 'message_mismatch', { expected }]);
      expect(refusal.message).toContain(expected);
    }
  });

  it('outside its time window, whose bounds belong to it', async () => {
    const { send } = await plant();
    const iso = (ms: number) => new Date(ms).toISOString();
    const now = Date.now();
    for (const at of [now - 310_000, now + 70_000, Math.floor(now / 1000) - 310, iso(now - 310_000)])
      expect(await codeOf(send({ at }))).toBe('message_expired');
    const offset = iso(now - 200_000 + 3_600_000).replace('Z', '+01:00');
    for (const at of [now - 290_000, now + 50_000, Math.floor(now / 1000) - 290, iso(now - 100_000), offset])
      expect(await send({ at })).toMatchObject({ data: { event: 'open' } });
  });
});

describe('a message', () => {
  it('is used once: the same input gets the first answer, another one is refused', async () => {
    const { send, counter, params } = await plant();
    const at = Date.now();
    const first = await send({ at });
    expect(await send({ at })).toEqual(first);
    expect(await codeOf(send({ at, input: { id: 'b' } }))).toBe('message_already_used');
    // Seen before comes before everything that may have changed since.
    await house.call('deployments.pause', { params });
    await house.call('deployments.unpublish', { params });
    expect(await send({ at })).toEqual(first);
    expect((await counter('a')).state['count']).toBe(1);
  });

  it('is used up by a failed execution, whose error every repetition gets', async () => {
    const { send, createCounter, history } = await plant();
    await createCounter('a', { count: Number.MAX_SAFE_INTEGER });
    const at = Date.now();
    const failure = await refusalOf(send({ at }));
    expect(failure.facts).toMatchObject({ historyId: expect.any(String) });
    expect(await refusalOf(send({ at }))).toMatchObject({ code: failure.code, facts: failure.facts });
    expect(await history()).toHaveLength(1);
  });

  it('executes once, however many copies arrive at once', async () => {
    const { send, counter } = await plant();
    const at = Date.now();
    const answers = await Promise.all(Array.from({ length: 50 }, () => send({ at })));
    expect(new Set(answers.map(({ data }) => data.historyId)).size).toBe(1);
    expect((await counter('a')).state['count']).toBe(1);
  });

  it('belongs to its wallet: another wallet may sign the same text', async () => {
    const { send, counter } = await plant();
    const at = Date.now();
    await send({ at });
    await send({ at, caller: { kind: 'wallet', wallet: `2${WALLET.slice(1)}` }, input: { id: 'a' } });
    expect((await counter('a')).state['count']).toBe(2);
  });

  it('runs once for an account of EVM chains, in whichever way it is spelled', async () => {
    const { send, counter, history } = await plant();
    const at = Date.now();
    const spelled = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045';
    const as = (wallet: string): Caller => ({ kind: 'wallet', wallet });
    const first = await send({ at, caller: as(spelled) });
    expect(first.data.stateChanges).toMatchObject({ 'mark:last': { by: spelled } });
    for (const wallet of [spelled, spelled.toLowerCase(), `eip155:1:${spelled}`, `eip155:10:${spelled}`]) {
      expect(await send({ at, caller: as(wallet) })).toEqual(first);
      expect(await codeOf(send({ at, caller: as(wallet), input: { id: 'b' } }))).toBe('message_already_used');
    }
    expect((await counter('a')).state['count']).toBe(1);
    await send({ at: at - 1, caller: as(`eip155:1:${spelled}`) });
    expect((await history()).map(({ caller }) => caller)).toEqual([
      `wallet:eip155:1:${spelled}`,
      `wallet:${spelled}`,
    ]);
  });

  it('of a run under way is in flight, unless the call awaits the run', async () => {
    const { send } = await plant();
    const sent = { event: 'judged', at: Date.now() };
    const first = send(sent);
    const call = await decider.called();
    expect(await codeOf(send(sent))).toBe('request_in_flight');
    const awaiting = send({ ...sent, awaitsRun: true });
    call.answer({ stateChanges: { 'counter:a': { count: 5 } } });
    const answer = await first;
    expect(answer.data.seq).toBe(3);
    expect([await awaiting, await send(sent)]).toEqual([answer, answer]);
  });

  it('that was never used is swept once it has expired for long', async () => {
    const { send } = await plant();
    await send();
    const { rows } = await database.pool.query<{ hours: number }>(
      `select extract(epoch from min(expires_at) - now()) / 3600 as hours from once_keys where scope = 'message'`,
    );
    expect(Number(rows[0]?.hours)).toBeGreaterThan(23.9);
  });
});
