import { setTimeout as pause } from 'node:timers/promises';
import { type OfferedPayment, type PaymentDemand, runtimeContract } from '@orrery/contracts';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { TEST_NETWORKS } from '../src/runs/payments/payment-config.js';
import { createDeciderDouble } from './decider-double.js';
import { attribute, incrementVersion } from './fake-catalog.js';
import { lookOnPayments, type PublicRequest, sendsTo, WALLET } from './paying.js';
import { createPaymentWorld, paymentFor, RECEIVER } from './payment-world.js';
import {
  codeOf,
  type House,
  plantDeployment,
  prepareHouse,
  refusalOf,
  refusedInVain,
} from './running-runtime.js';

const house: House = await prepareHouse();
const decider = createDeciderDouble();
const { world, parties, charges, calls, reset } = createPaymentWorld();
const { query, makeDue, reconcile } = await lookOnPayments(house);

const OTHER_WALLET = '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU';
const EVENTS = ['increment', 'priced', 'marked', 'free', 'judged', 'failing', 'followed'];

/** A receiver on Solana cannot be paid. */
const ON_EVM = TEST_NETWORKS.accepts.filter(({ family }) => family === 'evm');

/** What is to settle has time to, also on a busy machine. */
const PATIENT = { ...TEST_NETWORKS, accepts: ON_EVM, settleMs: 20_000 };
/** Gives up soon on a settlement that cannot become known. */
const IMPATIENT = { ...PATIENT, settleMs: 400 };

const running: AsyncDisposable[] = [];
const boot = async (...[options]: Parameters<House['boot']>) => {
  const runtime = await house.boot({
    payments: PATIENT,
    paymentParties: parties,
    decider: decider.decider,
    ...options,
  });
  running.push(runtime);
  return runtime;
};

beforeAll(async () => {
  const priced = { executionSettings: { visibility: 'public' as const, priceUsd: 0.01 } };
  house.catalog.plantSchema('mark', [attribute('by', 'string')]);
  house.catalog.plantVersion({ ...incrementVersion, ...priced, event: 'priced' });
  house.catalog.plantVersion({
    ...incrementVersion,
    ...priced,
    event: 'followed',
    followUps: [{ event: 'increment', input: { id: 'a' }, after: 'PT1H' }],
  });
  house.catalog.plantVersion({
    ...incrementVersion,
    event: 'free',
    executionSettings: { visibility: 'public' },
  });
  const template = (changes: object) => ({ mode: 'direct' as const, template: changes as never });
  house.catalog.plantVersion({
    event: 'marked',
    ...priced,
    inputSchema: { id: 'string' },
    mutationSettings: template({ 'mark:{{input.id}}': { by: '{{walletAddress}}' } }),
  });
  house.catalog.plantVersion({
    event: 'failing',
    ...priced,
    inputSchema: { id: 'string' },
    mutationSettings: template({ 'mark:a': { by: '{{input.absent}}' } }),
  });
  house.catalog.plantVersion({
    event: 'judged',
    ...priced,
    behaviorPrompt: 'Judge.',
    inputSchema: { id: 'string' },
    readEntities: [{ schema: 'counter', filter: ['id'] }],
    stateChanges: { counter: 'partial' },
  });
});
afterEach(async () => {
  reset();
  for (const runtime of running.splice(0)) await runtime[Symbol.asyncDispose]();
  decider.clear();
});

/** The catalog numbers schemas in their order. */
const MARK_SCHEMA = 2;

async function plant(body: object = {}) {
  const bindings = EVENTS.map((event) => ({ event, eventVersion: 1 }));
  const planted = await plantDeployment(house, { bindings, payToAddress: RECEIVER, ...body });
  const { params, deployment } = planted;
  await house.call('deployments.publish', { params });
  const send = sendsTo(house, deployment.address);
  const demand = async (sent: PublicRequest = {}) => {
    const { code, facts } = await refusalOf(send(sent));
    expect(code).toBe('payment_required');
    return facts as unknown as PaymentDemand;
  };
  const list = (query: object = {}) => house.call('payments.list', { params, query: { ...query } as never });
  const pay = async (sent: PublicRequest = {}) => send({ ...sent, payment: paymentFor(await demand(sent)) });
  const execution = async (executionId: string) =>
    (await house.ask('executions.getPublic', ofExecution(deployment.address, executionId))).data;
  return { ...planted, send, demand, list, pay, execution };
}

const ofExecution = (address: string, executionId: string) => ({
  params: { address, executionId },
  query: {},
  headers: {},
  body: {},
});

const oneCharge = (payment: OfferedPayment) => {
  const { nonce } = (payment.payload['payload'] as { authorization: { nonce: string } }).authorization;
  return [...charges].filter(([key]) => key.endsWith(nonce)).flatMap(([, transactions]) => transactions);
};

describe('a priced event', () => {
  it('asks for its price in both versions of x402, without using the message up', async () => {
    await boot();
    const { demand, send, history } = await plant();
    const at = Date.now();
    const asked = await demand({ at });
    const shared = {
      payTo: RECEIVER,
      maxTimeoutSeconds: 120,
      extra: { name: 'USDC', version: '2' },
      scheme: 'exact',
    };
    const asset = TEST_NETWORKS.accepts[0]?.asset;
    expect(asked.accepts).toMatchObject([
      { ...shared, network: 'base-sepolia', maxAmountRequired: '10000', asset, resource: expect.any(String) },
    ]);
    expect(asked.paymentRequired).toMatchObject({
      x402Version: 2,
      accepts: [{ ...shared, network: 'eip155:84532', amount: '10000', asset }],
    });
    expect(await history()).toEqual([]);
    expect((await send({ at, payment: paymentFor(asked) })).data).toMatchObject({ event: 'priced' });
  });

  it('is refused for what cannot be executed before it asks for money', async () => {
    await boot();
    const { send, params } = await plant();
    expect(await codeOf(send({ input: { id: 5 } }))).toBe('invalid_input');
    await house.call('deployments.update', { params, body: { payToAddress: null } });
    await expect(send()).rejects.toMatchObject({
      code: 'pay_to_address_missing',
      message: 'The deployment has no payToAddress: nobody can pay until its owner sets one.',
    });
    await house.call('deployments.update', { params, body: { payToAddress: WALLET } });
    expect(await codeOf(send())).toBe('pay_to_address_missing');
  });

  it.each([1, 2] as const)('is executed for a payment of version %i, and records it', async (version) => {
    await boot();
    const { send, demand, history, list, verify } = await plant();
    const offered = paymentFor(await demand(), version);
    const { data, payment } = await send({ payment: offered });
    const [transaction] = oneCharge(offered);
    const network = version === 1 ? 'base-sepolia' : 'eip155:84532';
    expect(payment).toMatchObject({ version, response: { success: true, transaction, network } });
    const [entry] = await history();
    const paid = {
      amount: '10000',
      network: 'base-sepolia',
      payTo: RECEIVER,
      status: 'settled',
      transaction,
    };
    expect(entry).toMatchObject({ id: data.historyId, status: 'succeeded', payment: paid });
    expect(entry?.paymentKey).toMatch(/^eip155:84532\/0x\w{40}\/0x\w{40}\/0x\w{64}$/);
    expect(await verify()).toMatchObject({ valid: true });
    expect(await list()).toMatchObject({
      data: [{ ...paid, paymentKey: entry?.paymentKey, seq: data.seq, wallet: WALLET, event: 'priced' }],
      totals: [{ network: 'base-sepolia', status: 'settled', amount: '10000', payments: 1 }],
      pagination: { total: 1 },
    });
    expect(await list({ status: 'refused' })).toMatchObject({ data: [], pagination: { total: 0 } });
    expect(
      await codeOf(house.call('payments.list', { params: (await plant()).params }, { accountId: 2 })),
    ).toBe('forbidden');
  });

  it('may be left by its caller, which repeats the request to wait for the outcome', async () => {
    await boot();
    const { send, demand } = await plant();
    const at = Date.now() - 800;
    const payment = paymentFor(await demand({ at }));
    const left = await send({ at, payment, leavesRun: true });
    expect(left).toEqual({
      data: { kind: 'accepted', executionId: expect.any(String), state: 'running' },
      payment: null,
    });
    const answered = await send({ at, payment, awaitsRun: true });
    expect(answered).toMatchObject({ data: { event: 'priced' }, payment: { response: { success: true } } });
    expect(await send({ at, payment, leavesRun: true })).toEqual(answered);
    expect(oneCharge(payment)).toHaveLength(1);
  });

  it('answers a repetition without charging again, and nobody else for the same payment', async () => {
    await boot();
    const { send, demand, history } = await plant();
    const at = Date.now() - 1000;
    const payment = paymentFor(await demand({ at }));
    const first = await send({ at, payment });
    expect(await send({ at, payment })).toEqual(first);
    expect(await send({ payment })).toEqual(first);
    expect(await codeOf(send({ payment, wallet: OTHER_WALLET }))).toBe('payment_already_used');
    expect(await codeOf(send({ payment, input: { id: 'b' } }))).toBe('payment_already_used');
    const other = await plant();
    expect(await codeOf(other.send({ payment }))).toBe('payment_already_used');
    expect(oneCharge(payment)).toHaveLength(1);
    expect(await history()).toHaveLength(1);
  });

  it('refuses a payment for anything else, and one that the facilitator finds invalid', async () => {
    await boot();
    const { send, demand, history, pay } = await plant();
    const asked = await demand();
    const soon = String(Math.floor(Date.now() / 1000) + 20);
    const later = String(Math.floor(Date.now() / 1000) + 60);
    const tooLong = String(Math.floor(Date.now() / 1000) + 700);
    const wrong: [OfferedPayment, RegExp][] = [
      [paymentFor(asked, 2, { to: `0x${'2'.repeat(40)}` }), /another receiver/],
      [paymentFor(asked, 2, { value: '9999' }), /amount required, 10000/],
      [paymentFor(asked, 2, { value: '10001' }), /amount required, 10000/],
      [paymentFor(asked, 2, { validBefore: soon }), /expires too soon/],
      [paymentFor(asked, 2, { validAfter: later }), /not valid yet/],
      [paymentFor(asked, 2, { validBefore: tooLong }), /valid for too long.* 600 seconds/],
      [paymentFor(asked, 1, { validBefore: '9'.repeat(77) }), /valid for too long/],
      [paymentFor(asked, 2, {}, { network: 'eip155:8453' }), /a network in which/],
      [paymentFor(asked, 1, {}, { network: 'base' }), /a network in which/],
      [paymentFor(asked, 1, {}, { scheme: 'upto' }), /scheme/],
      [paymentFor(asked, 2, {}, { asset: `0x${'3'.repeat(40)}` }), /an asset in which/],
      [paymentFor(asked, 2, {}, { amount: '1' }), /amount required/],
      [paymentFor(asked, 2, {}, { payTo: `0x${'3'.repeat(40)}` }), /another receiver/],
    ];
    for (const [payment, reason] of wrong) {
      const refused = await refusalOf(send({ payment }));
      expect([refused.code, refused.message]).toEqual(['payment_refused', expect.stringMatching(reason)]);
      expect(refused.facts).toMatchObject({ accepts: [{ maxAmountRequired: '10000' }] });
    }
    const nonsense: OfferedPayment = { version: 2, payload: { x402Version: 2, accepted: {}, payload: 7 } };
    expect(await codeOf(send({ payment: nonsense }))).toBe('invalid_payment');
    for (const broken of [{ nonce: '0x12' }, { value: '0x' }, { validBefore: '1e3' }])
      expect(await codeOf(send({ payment: paymentFor(asked, 2, broken) }))).toBe('invalid_payment');
    const before = calls.settle;
    world.invalid = 'invalid_exact_evm_signature';
    expect(await codeOf(pay())).toBe('payment_refused');
    world.isVerifyDown = true;
    expect(await codeOf(pay())).toBe('unavailable');
    expect(calls.settle).toBe(before);
    expect(await history()).toEqual([]);
  });

  it('is paid at the price that it has when it is accepted', async () => {
    await boot();
    const { send, demand, params, history } = await plant();
    const payment = paymentFor(await demand());
    await house.call('deployments.update', { params, body: { payToAddress: `0x${'4'.repeat(40)}` } });
    expect(await codeOf(send({ payment }))).toBe('payment_refused');
    expect(await history()).toEqual([]);
  });

  it('costs nothing when it fails, and leaves the message used', async () => {
    await boot();
    const { send, demand, history, list } = await plant();
    const at = Date.now() - 500;
    const payment = paymentFor(await demand({ event: 'failing', at }));
    const failed = await refusalOf(send({ event: 'failing', at, payment }));
    expect(failed).toMatchObject({ code: 'template_failed', facts: { seq: expect.any(Number) } });
    expect(await codeOf(send({ event: 'failing', at, payment }))).toBe('template_failed');
    expect(oneCharge(payment)).toEqual([]);
    expect(await history()).toMatchObject([
      {
        status: 'failed',
        paymentKey: expect.any(String),
        payment: { status: 'released', transaction: null },
      },
    ]);
    expect(await list()).toMatchObject({ data: [{ status: 'released' }] });
  });

  it('is due for a refund where it failed and its payment was charged all the same', async () => {
    const { context } = await boot();
    const { send, demand, list, history, deployment, params } = await plant();
    const failing = async () =>
      codeOf(send({ event: 'failing', payment: paymentFor(await demand({ event: 'failing' })) }));
    expect([await failing(), await failing()]).toEqual(['template_failed', 'template_failed']);
    const [{ paymentKey = '' } = {}] = (await list()).data;
    expect((await house.call('history.published', { params })).isMoving).toBe(true);
    // As a facilitator that charges when it is to verify, or whoever has seen the authorization.
    charges.set(paymentKey, ['0xearly']);
    world.isOver = true;
    await makeDue();
    await vi.waitFor(async () => {
      await reconcile(context.payments);
      expect((await list()).data).toMatchObject([
        { status: 'refund_due', reason: 'charged_late', transaction: '0xearly' },
        { status: 'released', reason: null, transaction: null },
      ]);
    });
    expect(await history()).toMatchObject([
      { status: 'failed', payment: { status: 'refund_due' } },
      { status: 'failed', payment: { status: 'released' } },
    ]);
    // What was not charged is looked up no more once it is over; nor is it where there is no node to ask.
    world.isOver = false;
    world.isWithoutNode = true;
    expect(await failing()).toBe('template_failed');
    await makeDue();
    const watched = 'select from payments where deployment_id = $1 and check_at is not null';
    await vi.waitFor(async () => {
      await reconcile(context.payments);
      expect(await query(watched, [deployment.id])).toEqual([]);
    });
    expect((await list()).data[0]).toMatchObject({ status: 'released', reason: null });
  });

  it('asks a model only once its payment is verified, and settles after the answer', async () => {
    await boot();
    const { send, demand, counter } = await plant();
    const before = decider.calls();
    const asked = await demand({ event: 'judged' });
    expect(decider.calls()).toBe(before);
    expect(asked.accepts).toMatchObject([{ maxTimeoutSeconds: 120 }]);
    const answer = send({ event: 'judged', payment: paymentFor(asked) });
    const { request, answer: say } = await decider.called();
    expect(request.deadline).toBeLessThan(Date.now() + 120_000 - 20_000);
    const settled = calls.settle;
    say({ 'counter:a': { count: 5 } }, { llmHash: 'c'.repeat(64) });
    expect((await answer).data).toMatchObject({ stateChanges: { 'counter:a': { count: 5 } } });
    expect(calls.settle).toBe(settled + 1);
    expect(await counter('a')).toMatchObject({ state: { count: 5 } });
  });
});

/** Stops the facilitator at a settlement until it is let go. */
function stopAtSettlement() {
  let letGo = () => {};
  let arrived = () => {};
  const isThere = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const gate = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  world.beforeSettling = async () => {
    arrived();
    await gate;
  };
  return { isThere, letGo };
}

/** Lets each settlement take effect when the next one arrives, or after a second without another. */
function overlap() {
  let count = 0;
  let letGo = () => {};
  const waiting: { readonly at: number; readonly resolve: () => void }[] = [];
  return {
    arrive: async () => {
      count += 1;
      for (const { at, resolve } of waiting) if (count >= at) resolve();
      letGo();
      const next = new Promise<void>((resolve) => {
        letGo = resolve;
      });
      await Promise.race([next, pause(1000)]);
    },
    reached: (at: number) =>
      new Promise<void>((resolve) => {
        if (count >= at) resolve();
        else waiting.push({ at, resolve });
      }),
  };
}

describe('while a payment settles', () => {
  it('nothing changes what was staged: instances, bindings, pauses, lock, room and claims wait or are refused', async () => {
    await boot({ limits: { instancesPerDeployment: 2 } });
    const { deployment, params, pay, execute, createCounter, counter, history, verify } = await plant();
    await createCounter('a');
    const { isThere, letGo } = stopAtSettlement();
    const paid = pay({ event: 'marked', input: { id: 'm' } });
    await isThere;
    const mark = { entitySchema: 'mark', instanceId: 'm', state: {} };
    expect(await codeOf(house.call('instances.create', { params, body: mark }))).toBe('limit_reached');
    expect(await codeOf(execute({ id: 'new' }))).toBe('limit_reached');
    const asks = [
      (patience: number) => house.call('deployments.pause', { params }, { patience }),
      (patience: number) => house.call('deployments.lock', { params }, { patience }),
      (patience: number) =>
        house.call('bindings.remove', { params, query: { event: 'marked' } }, { patience }),
    ];
    for (const { code, message } of await Promise.all(asks.map((ask) => refusedInVain(ask))))
      expect([code, message]).toEqual(['write_conflict', 'A payment is being settled: try again.']);
    const switches = ['deployments.pause', 'deployments.resume', 'deployments.lock'] as const;
    const ofBindings = ['bindings.add', 'bindings.update', 'bindings.remove'] as const;
    for (const name of [...switches, ...ofBindings])
      expect(runtimeContract.rpcs[name].errors, name).toContain('write_conflict');
    expect(await codeOf(house.call('deployments.delete', { params }))).toBe('deployment_busy');
    const held = await house.ask('references.held', {
      deployment: deployment.address,
      versionIds: [],
      schemaIds: [MARK_SCHEMA],
    });
    expect(held).toMatchObject({ schemaIds: [MARK_SCHEMA] });
    await execute({ id: 'a' });
    const pausing = house.call('deployments.pause', { params });
    letGo();
    expect((await paid).data).toMatchObject({ stateChanges: { 'mark:m': { by: WALLET } } });
    await pausing;
    expect(await counter('a')).toMatchObject({ state: { count: 1 } });
    expect(await history({ status: 'succeeded' })).toMatchObject([
      { event: 'marked' },
      { event: 'increment' },
    ]);
    expect(await verify()).toMatchObject({ valid: true });
  });

  it('writes to the same instance wait, and find what was staged', async () => {
    await boot();
    const { pay, execute, counter } = await plant();
    const { isThere, letGo } = stopAtSettlement();
    const paid = pay();
    await isThere;
    const free = execute({ id: 'a' });
    const second = pay();
    letGo();
    const [one, two, three] = await Promise.all([paid, free, second]);
    expect(
      [one.data, two.data, three.data].map((data) => (data as { stateChanges: object }).stateChanges),
    ).toEqual(expect.arrayContaining([1, 2, 3].map((count) => ({ 'counter:a': { count } }))));
    expect(await counter('a')).toMatchObject({ state: { count: 3 } });
  });

  it('a pause has its turn however steadily others pay, and those after it are refused uncharged', async () => {
    await boot();
    const { params, pay, list, verify } = await plant();
    let isPaused = false;
    // Each settlement lasts until the next one has begun, so there is always a run that is staged.
    const settling = overlap();
    world.beforeSettling = settling.arrive;
    const outcomes: unknown[] = [];
    const payer = async (id: string) => {
      while (!isPaused) outcomes.push(await pay({ input: { id } }).catch((error: unknown) => error));
    };
    const payers = Promise.all(['a', 'b', 'c', 'd'].map(payer));
    await settling.reached(4);
    await house.call('deployments.pause', { params }).finally(() => {
      isPaused = true;
    });
    await payers;
    const answered = outcomes.filter((one) => !(one instanceof Error));
    expect((await list()).totals).toMatchObject([{ status: 'settled', payments: answered.length }]);
    expect(await verify()).toMatchObject({ valid: true });
  });

  it('its deployment may be handed over: the next owner ends what was staged', async () => {
    const first = await boot();
    const { send, demand, execute, counter, list } = await plant();
    const { isThere, letGo } = stopAtSettlement();
    const at = Date.now() - 900;
    const payment = paymentFor(await demand({ at }));
    const paid = send({ at, payment }).catch(() => undefined);
    await isThere;
    const began = () => query('select settling_at from payments order by created_at desc limit 1');
    const firstBegan = await began();
    await first[Symbol.asyncDispose]();
    running.length = 0;
    await boot();
    const waiting = execute({ id: 'a' });
    letGo();
    await paid;
    await vi.waitFor(async () => expect((await send({ at, payment })).data.seq).toBe(3));
    expect((await waiting).data).toMatchObject({ seq: 4 });
    expect(await counter('a')).toMatchObject({ state: { count: 2 } });
    expect(await list()).toMatchObject({ data: [{ status: 'settled' }] });
    expect(oneCharge(payment)).toHaveLength(1);
    // It may have been charged since the first owner began.
    expect(await began()).toEqual(firstBegan);
  });

  it('the next owner ends a run that changes an instance it has never read', async () => {
    const first = await boot();
    const { send, demand, createCounter, execute, counter, list, verify } = await plant();
    await createCounter('a', { count: 5 });
    const { isThere, letGo } = stopAtSettlement();
    const at = Date.now() - 900;
    const payment = paymentFor(await demand({ at }));
    const paid = send({ at, payment }).catch(() => undefined);
    await isThere;
    await first[Symbol.asyncDispose]();
    running.length = 0;
    await boot();
    letGo();
    await paid;
    await vi.waitFor(async () => expect((await send({ at, payment })).data.seq).toBe(4));
    expect((await execute({ id: 'a' })).data).toMatchObject({ seq: 5 });
    expect(await counter('a')).toMatchObject({ state: { count: 7 }, revision: 3 });
    expect(await list()).toMatchObject({ data: [{ status: 'settled' }] });
    expect(await verify()).toMatchObject({ valid: true });
  });

  it('two that want each other’s instances do not wait for each other', async () => {
    await boot();
    const { pay, counter } = await plant();
    await Promise.all(['a', 'b', 'a', 'b', 'a'].map((id) => pay({ input: { id } })));
    expect([await counter('a'), await counter('b')]).toMatchObject([
      { state: { count: 3 } },
      { state: { count: 2 } },
    ]);
  });
});

describe('a settlement', () => {
  it('that is refused fails the execution, releases what it held and uses the payment up', async () => {
    await boot();
    const { send, demand, history, execute, counter, list } = await plant();
    world.conduct = 'refuses';
    const at = Date.now() - 700;
    const payment = paymentFor(await demand({ at }));
    const refused = await refusalOf(send({ at, payment }));
    expect(refused).toMatchObject({
      code: 'payment_refused',
      facts: { seq: expect.any(Number), accepts: [{ maxAmountRequired: '10000' }] },
    });
    world.conduct = 'settles';
    expect(await codeOf(send({ at, payment }))).toBe('payment_refused');
    await execute({ id: 'a' });
    expect(await counter('a')).toMatchObject({ state: { count: 1 } });
    expect(await history({ status: 'failed' })).toMatchObject([
      { error: { code: 'payment_refused' }, payment: { status: 'refused' }, changes: [] },
    ]);
    expect(oneCharge(payment)).toEqual([]);
    expect(await list()).toMatchObject({
      data: [{ status: 'refused', reason: expect.stringMatching(/balance/) }],
    });
  });

  it('that is refused sets none of the timers that its execution would have set', async () => {
    await boot();
    const { pay, params, history } = await plant();
    const timers = async () => (await house.call('timers.list', { params })).data;
    world.conduct = 'refuses';
    expect(await codeOf(pay({ event: 'followed' }))).toBe('payment_refused');
    expect(await timers()).toEqual([]);
    expect((await history())[0]).not.toHaveProperty('timers');
    world.conduct = 'settles';
    await pay({ event: 'followed' });
    expect(await timers()).toHaveLength(1);
    expect((await history())[0]?.timers).toHaveLength(1);
  });

  it('whose refusal turns out to be a charge after all is due for a refund', async () => {
    const { context } = await boot();
    const { send, demand, list, history } = await plant();
    world.conduct = 'refuses';
    const payment = paymentFor(await demand());
    expect(await codeOf(send({ payment }))).toBe('payment_refused');
    const [{ paymentKey = '' } = {}] = (await list()).data;
    charges.set(paymentKey, ['0xlate']);
    await makeDue();
    await vi.waitFor(async () => {
      await reconcile(context.payments);
      expect((await list()).data).toMatchObject([
        { status: 'refund_due', reason: 'charged_late', transaction: '0xlate' },
      ]);
    });
    expect(await history()).toMatchObject([{ status: 'failed', payment: { status: 'refund_due' } }]);
  });

  it.each(['drops its reply', 'charges and answers 500', 'refuses with a hash that charges'] as const)(
    'by a facilitator that %s is found on the chain',
    async (conduct) => {
      await boot();
      const { send, demand, list } = await plant();
      world.conduct = conduct;
      const payment = paymentFor(await demand());
      expect(await send({ payment })).toMatchObject({ payment: { response: { success: true } } });
      expect(oneCharge(payment)).toHaveLength(1);
      expect(await list()).toMatchObject({ data: [{ status: 'settled', reason: null }] });
    },
  );

  it('whose transaction has failed is refused, with its reason as a code and one sentence', async () => {
    await boot();
    const { send, demand, list, history } = await plant();
    world.conduct = 'refuses with a hash that failed';
    const refused = await refusalOf(send({ payment: paymentFor(await demand()) }));
    expect(refused).toMatchObject({ code: 'payment_refused', facts: { reason: 'transaction_failed' } });
    expect(refused.message).toBe(
      'The payment was refused when it was settled. The transaction that was to charge it has failed on its chain.',
    );
    expect((await list()).data).toMatchObject([{ status: 'refused', reason: 'transaction_failed' }]);
    expect(await history()).toMatchObject([{ error: { facts: { reason: 'transaction_failed' } } }]);
  });

  it('that another transaction than ours has charged is never executed, and due for a refund', async () => {
    await boot();
    const { send, demand, list, history, counter } = await plant();
    world.conduct = 'lies about refusal';
    const at = Date.now() - 600;
    const payment = paymentFor(await demand({ at }));
    const refused = await refusalOf(send({ at, payment }));
    expect(refused).toMatchObject({
      code: 'payment_already_used',
      facts: { reason: 'settled_elsewhere', refundDue: true, seq: expect.any(Number) },
    });
    expect(await codeOf(send({ at, payment }))).toBe('payment_already_used');
    const status = 'refund_due';
    expect(await list()).toMatchObject({
      data: [{ status, reason: 'settled_elsewhere', transaction: oneCharge(payment)[0] }],
      totals: [{ status, payments: 1, amount: '10000' }],
    });
    expect((await list({ status })).data).toHaveLength(1);
    expect(await history()).toMatchObject([{ status: 'failed', payment: { status } }]);
    expect(await codeOf(counter('a'))).toBe('entity_instance_not_found');
  });
});

/** Of an execution whose payment is unclear. */
const awaited = {
  data: { kind: 'accepted', executionId: expect.any(String), state: 'awaiting_payment' },
  payment: null,
};

describe('an unclear settlement', () => {
  it.each([
    ['answers 500', PATIENT],
    ['lies about success', PATIENT],
    ['unreachable', IMPATIENT],
  ] as const)(
    'by a facilitator that is or does: %s, leaves an execution that awaits it',
    async (conduct, payments) => {
      await boot({ payments });
      const { send, demand, list, history, counter, execution, params } = await plant();
      world.conduct = conduct;
      const at = Date.now() - 600;
      const payment = paymentFor(await demand({ at }));
      const first = await send({ at, payment });
      expect(first).toEqual(awaited);
      expect(await send({ at, payment })).toEqual(first);
      expect(await send({ at, payment, awaitsRun: true })).toEqual(first);
      expect(await history()).toEqual([]);
      expect(await codeOf(counter('a'))).toBe('entity_instance_not_found');
      expect(await list()).toMatchObject({ data: [{ status: 'settling', seq: null }] });
      const { executionId } = first.data as unknown as { executionId: string };
      expect(await execution(executionId)).toEqual({ executionId, state: 'awaiting_payment' });
      expect(await codeOf(house.call('deployments.delete', { params }))).toBe('deployment_busy');
      world.isOver = true;
      await vi.waitFor(async () => expect(await codeOf(send({ at, payment }))).toBe('payment_refused'));
      expect(await execution(executionId)).toMatchObject({
        state: 'failed',
        error: { code: 'payment_refused', facts: { reason: 'authorization_expired' } },
      });
      expect(await history()).toMatchObject([{ status: 'failed', payment: { status: 'refused' } }]);
      expect(oneCharge(payment)).toEqual([]);
      await house.call('deployments.delete', { params });
    },
  );

  it('keeps nobody from what it held, and is decided on the state as it is once it is settled', async () => {
    await boot();
    const { send, demand, list, execute, counter, createCounter, verify, execution } = await plant();
    await createCounter('a', { count: 5 });
    world.conduct = 'answers 500';
    const at = Date.now() - 600;
    const payment = paymentFor(await demand({ at }));
    const { data } = await send({ at, payment });
    await execute({ id: 'a' });
    expect(await counter('a')).toMatchObject({ state: { count: 6 } });
    world.conduct = 'settles';
    await vi.waitFor(async () =>
      expect(await send({ at, payment })).toMatchObject({
        data: { stateChanges: { 'counter:a': { count: 7 } } },
        payment: { response: { success: true } },
      }),
    );
    const { executionId } = data as unknown as { executionId: string };
    expect(await execution(executionId)).toMatchObject({ state: 'succeeded', answer: { event: 'priced' } });
    expect((await list()).data).toMatchObject([{ status: 'settled', reason: null, seq: expect.any(Number) }]);
    expect(oneCharge(payment)).toHaveLength(1);
    expect(await verify()).toMatchObject({ valid: true });
  });

  it('that is settled when its execution cannot succeed any more is due for a refund', async () => {
    await boot();
    const { send, demand, list, history, params, verify } = await plant();
    world.conduct = 'answers 500';
    const [first, second] = [Date.now() - 600, Date.now() - 500];
    const payments = [paymentFor(await demand({ at: first })), paymentFor(await demand({ at: second }))];
    for (const [index, at] of [first, second].entries())
      expect(await send({ at, payment: payments[index] ?? null })).toEqual(awaited);
    await house.call('bindings.remove', { params, query: { event: 'priced' } });
    world.conduct = 'settles';
    for (const [index, at] of [first, second].entries()) {
      const refused = () => refusalOf(send({ at, payment: payments[index] ?? null }));
      await vi.waitFor(async () => expect(await refused()).toMatchObject({ code: 'event_not_bound' }));
      expect(await refused()).toMatchObject({
        message: expect.stringMatching(/has to return it\.$/),
        facts: { refundDue: true, seq: expect.any(Number) },
      });
    }
    expect((await list()).totals).toMatchObject([{ status: 'refund_due', payments: 2, amount: '20000' }]);
    expect(await history()).toMatchObject([
      { status: 'failed', error: { code: 'event_not_bound' }, payment: { status: 'refund_due' } },
      { status: 'failed' },
    ]);
    expect(await verify()).toMatchObject({ valid: true });
  });

  it('of a model’s decision applies the stored answer, and asks again only if what it read has changed', async () => {
    await boot();
    const { send, demand, execute, createCounter, counter, history } = await plant();
    await createCounter('a', { count: 1 });
    await createCounter('b', { count: 1 });
    world.conduct = 'answers 500';
    const pays = async (id: string) => {
      const at = Date.now() - (id === 'a' ? 600 : 500);
      const sent = { event: 'judged', input: { id }, at };
      const payment = paymentFor(await demand(sent));
      const answer = send({ ...sent, payment });
      (await decider.called()).answer({ [`counter:${id}`]: { count: 50 } }, { llmHash: 'c'.repeat(64) });
      expect(await answer).toEqual(awaited);
      return () => send({ ...sent, payment });
    };
    const before = decider.calls();
    const [kept, changed] = [await pays('a'), await pays('b')];
    await execute({ id: 'b' });
    world.conduct = 'settles';
    await vi.waitFor(async () => expect((await kept()).data).toMatchObject({ event: 'judged' }));
    const again = await decider.called();
    again.answer({ 'counter:b': { count: 70 } }, { llmHash: 'd'.repeat(64) });
    await vi.waitFor(async () => expect((await changed()).data).toMatchObject({ event: 'judged' }));
    expect(decider.calls()).toBe(before + 3);
    expect([await counter('a'), await counter('b')]).toMatchObject([
      { state: { count: 50 } },
      { state: { count: 70 } },
    ]);
    expect(await history({ status: 'succeeded' })).toMatchObject([
      { llmHash: 'd'.repeat(64) },
      { llmHash: 'c'.repeat(64) },
      { event: 'increment' },
    ]);
  });

  it('goes on at the next owner, which knows what the calls may have sent', async () => {
    const first = await boot();
    const { send, demand, list, counter } = await plant();
    world.conduct = 'answers 500';
    const at = Date.now() - 600;
    const payment = paymentFor(await demand({ at }));
    expect(await send({ at, payment })).toEqual(awaited);
    await first[Symbol.asyncDispose]();
    running.length = 0;
    world.conduct = 'refuses';
    await boot();
    expect(await send({ at, payment })).toEqual(awaited);
    const [{ paymentKey = '' } = {}] = (await list()).data;
    charges.set(paymentKey, ['0xfound']);
    await vi.waitFor(async () => expect((await send({ at, payment })).data.seq).toBe(3));
    expect(await counter('a')).toMatchObject({ state: { count: 1 } });
    expect((await list()).data).toMatchObject([{ status: 'settled', transaction: '0xfound' }]);
  });

  it('stays unclear while the chain is away, and holds nothing', async () => {
    await boot({ payments: IMPATIENT });
    const { send, demand, list, execute } = await plant();
    world.isChainDown = true;
    const at = Date.now() - 600;
    const payment = paymentFor(await demand({ at }));
    expect(await send({ at, payment })).toEqual(awaited);
    await execute({ id: 'a' });
    world.isChainDown = false;
    await vi.waitFor(async () => expect((await send({ at, payment })).data.event).toBe('priced'));
    expect((await list()).data).toMatchObject([{ status: 'settled' }]);
    expect(oneCharge(payment)).toHaveLength(1);
  });

  it.each([
    ['refuses', 'payment_refused', 'refused'],
    ['settles', undefined, 'settled'],
  ] as const)(
    'does not come of the operator having no node: what %s says counts',
    async (conduct, code, status) => {
      await boot();
      const { send, demand, list } = await plant();
      world.isWithoutNode = true;
      world.conduct = conduct;
      const sent = send({ payment: paymentFor(await demand()) });
      if (code === undefined) expect(await sent).toMatchObject({ data: { event: 'priced' } });
      else expect(await codeOf(sent)).toBe(code);
      expect((await list()).data).toMatchObject([{ status }]);
    },
  );

  it('that an older release has committed is settled or uncollected later', async () => {
    const { context } = await boot();
    const { send, demand, list } = await plant();
    const asked = await demand();
    for (const payment of [paymentFor(asked), paymentFor(asked)]) await send({ payment });
    const [{ paymentKey: kept = '' } = {}, { paymentKey: lost = '' } = {}] = (await list()).data;
    charges.delete(lost);
    await query(
      "update payments set status = 'unknown', transaction = null, check_at = now() where key = any($1)",
      [[kept, lost]],
    );
    world.isOver = true;
    await vi.waitFor(async () => {
      await reconcile(context.payments);
      expect((await list()).data).toMatchObject([{ status: 'settled' }, { status: 'uncollected' }]);
    });
  });
});
