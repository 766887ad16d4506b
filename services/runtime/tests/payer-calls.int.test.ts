import type { JsonObject, OfferedPayment, PaymentDemand } from '@orrery/contracts';
import { extractDiscoveryInfo, validateDiscoveryExtension } from '@x402/extensions/bazaar';
import { appendPaymentIdentifierToExtensions } from '@x402/extensions/payment-identifier';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Payment } from '../src/core/payments/payment.js';
import { TEST_NETWORKS } from '../src/runs/payments/payment-config.js';
import { createDeciderDouble } from './decider-double.js';
import { attribute } from './fake-catalog.js';
import { type PublicRequest, sendsTo } from './paying.js';
import { createPaymentWorld, paymentBy, paymentFor, RECEIVER } from './payment-world.js';
import { codeOf, type House, plantDeployment, prepareHouse, refusalOf } from './running-runtime.js';

const house: House = await prepareHouse();
const { world, parties, charges, calls, reset } = createPaymentWorld();
const decider = createDeciderDouble();
const ON_EVM = TEST_NETWORKS.accepts.filter(({ family }) => family === 'evm');
const EVENTS = ['open', 'signed', 'free', 'large', 'judged'];
/** What reached the facilitator. */
const verified: Payment[] = [];

beforeAll(async () => {
  house.catalog.plantSchema('mark', [attribute('by', 'string')]);
  const marking = {
    inputSchema: { id: 'string' },
    mutationSettings: {
      mode: 'direct' as const,
      template: { 'mark:{{input.id}}': { by: '{{walletAddress}}' } },
    },
  };
  const settings = (more: object) => ({ executionSettings: { visibility: 'public' as const, ...more } });
  const open = settings({ priceUsd: 0.01, payerMayCall: true });
  const plantVersion = (event: string, version: object) =>
    house.catalog.plantVersion({ event, ...marking, ...version });
  plantVersion('open', open);
  plantVersion('signed', settings({ priceUsd: 0.01 }));
  plantVersion('free', settings({ payerMayCall: true }));
  const members = Array.from({ length: 200 }, (_, n) => [`member${n}`, 'string?']);
  plantVersion('large', { ...open, inputSchema: { id: 'string', ...Object.fromEntries(members) } });
  house.catalog.plantVersion({
    event: 'judged',
    ...open,
    behaviorPrompt: 'Judge.',
    inputSchema: { id: 'string' },
    stateChanges: { mark: 'partial' },
  });
  const { facilitator } = parties;
  const verify: typeof facilitator.verify = (payment) => {
    verified.push(payment);
    return facilitator.verify(payment);
  };
  const payments = { ...TEST_NETWORKS, accepts: ON_EVM };
  const paymentParties = { ...parties, facilitator: { ...facilitator, verify } };
  await house.boot({ payments, paymentParties, decider: decider.decider });
});
afterEach(() => {
  reset();
  verified.length = 0;
});

async function plant() {
  const bindings = EVENTS.map((event) => ({ event, eventVersion: 1 }));
  const planted = await plantDeployment(house, { bindings, payToAddress: RECEIVER });
  const { params, deployment } = planted;
  await house.call('deployments.publish', { params });
  const send = sendsTo(house, deployment.address);
  const call = (sent: PublicRequest = {}) => send({ event: 'open', byPayer: true, atEvent: true, ...sent });
  const demand = async (sent: PublicRequest = {}) => {
    const { code, facts } = await refusalOf(call(sent));
    expect(code).toBe('payment_required');
    return facts as unknown as PaymentDemand;
  };
  return { ...planted, send, call, demand };
}

const newAccount = () => privateKeyToAccount(generatePrivateKey());
const chargesOf = ({ payload }: OfferedPayment) => {
  const { nonce } = (payload['payload'] as { authorization: { nonce: string } }).authorization;
  return [...charges].filter(([key]) => key.endsWith(nonce)).length;
};

describe('a payment alone', () => {
  it('executes for the payer, whom template and history see', async () => {
    const { call, demand, history } = await plant();
    const account = newAccount();
    const payment = await paymentBy(account, await demand());
    const { data, payment: settled } = await call({ payment });
    expect(data.stateChanges).toEqual({ 'mark:a': { by: account.address } });
    expect(settled?.response).toMatchObject({ success: true, payer: account.address });
    expect(await history()).toMatchObject([{ trigger: 'public', caller: `wallet:${account.address}` }]);
    expect(chargesOf(payment)).toBe(1);
  });

  it('of a contract account is called by the account on its chain', async () => {
    const { call, demand } = await plant();
    // No key has made its signature: the facilitator says that it is good.
    const payment = paymentFor(await demand());
    const { data, payment: settled } = await call({ payment });
    const payer = String(settled?.response['payer']);
    expect(data.stateChanges).toEqual({ 'mark:a': { by: `eip155:84532:${payer}` } });
  });

  it('is used once: the same input gets the first answer, any other call none', async () => {
    const one = await plant();
    const two = await plant();
    const payment = await paymentBy(newAccount(), await one.demand());
    const first = await one.call({ payment });
    expect(await one.call({ payment })).toEqual(first);
    for (const other of [
      () => one.call({ payment, input: { id: 'b' } }),
      () => one.call({ payment, event: 'large' }),
      () => two.call({ payment }),
      () => one.send({ event: 'open', payment }),
    ])
      expect(await codeOf(other())).toBe('payment_already_used');
    expect(chargesOf(payment)).toBe(1);
    expect(await two.history()).toEqual([]);
  });

  it('executes once, however many copies arrive at once', async () => {
    const { call, demand, history } = await plant();
    const payment = await paymentBy(newAccount(), await demand());
    const copies = Array.from({ length: 20 }, () => call({ payment, awaitsRun: true }));
    const answers = await Promise.all(copies);
    expect(new Set(answers.map(({ data }) => data.historyId)).size).toBe(1);
    expect([(await history()).length, chargesOf(payment)]).toEqual([1, 1]);
  });

  it('that arrives at two deployments at once executes in one of them', async () => {
    const both = [await plant(), await plant()];
    const payment = await paymentBy(newAccount(), (await both[0]?.demand()) as PaymentDemand);
    const codes = await Promise.all(
      both.map(({ call }) =>
        call({ payment, awaitsRun: true }).then(
          () => 'executed',
          (error) => error.code,
        ),
      ),
    );
    expect(codes.sort()).toEqual(['executed', 'payment_already_used']);
    expect(chargesOf(payment)).toBe(1);
  });

  it('tells its outcome to nobody who does not hold it: what was not verified is not known', async () => {
    const { call, demand } = await plant();
    const payment = await paymentBy(newAccount(), await demand());
    await call({ payment });
    const inner = payment.payload['payload'] as JsonObject;
    const forged = {
      ...payment,
      payload: { ...payment.payload, payload: { ...inner, signature: `0x${'11'.repeat(65)}` } },
    } as OfferedPayment;
    world.invalid = 'invalid_exact_evm_signature';
    expect(await codeOf(call({ payment: forged }))).toBe('payment_refused');
    // The very payment needs no facilitator to be known.
    world.isVerifyDown = true;
    expect((await call({ payment })).data.seq).toBe(3);
  });

  it('is refused in the documented order, and charges nothing', async () => {
    const { call, demand, params, history } = await plant();
    const payment = await paymentBy(newAccount(), await demand());
    const { settle } = calls;
    const refused = async (code: string, sent: PublicRequest = {}) =>
      expect(await codeOf(call({ payment, ...sent }))).toBe(code);
    await refused('signature_required', { event: 'signed', input: { id: 7 } });
    await refused('signature_required', { event: 'free' });
    await refused('event_not_bound', { event: 'unbound' });
    await refused('invalid_input', { input: { id: 7 } });
    await house.call('deployments.pause', { params });
    await refused('deployment_paused', { input: { id: 7 } });
    await house.call('deployments.resume', { params });
    await house.call('deployments.unpublish', { params });
    await refused('deployment_not_public');
    await house.call('deployments.publish', { params });
    world.invalid = 'insufficient_funds';
    await refused('payment_refused');
    expect([verified.length, calls.settle - settle, (await history()).length]).toEqual([1, 0, 0]);
    reset();
    expect((await call({ payment })).data.seq).toBeGreaterThan(3);
  });

  it('says what to sign where a wallet has to', async () => {
    const { call, deployment } = await plant();
    const { code, facts } = await refusalOf(call({ event: 'signed' }));
    expect([code, facts]).toEqual([
      'signature_required',
      { expected: `orrery:${deployment.address}:signed:` },
    ]);
  });

  it('is known again after its end, and is not executed then for the first time', async () => {
    const { call, demand } = await plant();
    const seconds = Math.floor(Date.now() / 1000);
    const expired = paymentFor(await demand(), 2, { validBefore: String(seconds - 1) });
    world.invalid = 'invalid_exact_evm_payload_authorization_valid_before';
    expect(await codeOf(call({ payment: expired }))).toBe('payment_refused');
    world.invalid = undefined;
    expect(await codeOf(call({ payment: expired }))).toBe('payment_refused');
    expect(chargesOf(expired)).toBe(0);
  });

  it('is in flight while a model decides, and its copies get the answer', async () => {
    const { call, demand } = await plant();
    const sent = { event: 'judged' };
    const payment = await paymentBy(newAccount(), await demand(sent));
    const first = call({ ...sent, payment });
    const asked = await decider.called();
    expect(await codeOf(call({ ...sent, payment }))).toBe('request_in_flight');
    asked.answer({ stateChanges: { 'mark:a': { by: 'judge' } } });
    const answer = await first;
    expect(await call({ ...sent, payment })).toEqual(answer);
  });
});

describe('the address of an event', () => {
  it('is what a 402 names, with the extensions of x402, whatever the path was', async () => {
    const { demand, deployment } = await plant();
    const { paymentRequired } = await demand();
    const url = `http://localhost:3000/app/deployments/${deployment.address}/events/open/execute`;
    expect(paymentRequired['resource']).toMatchObject({ url, serviceName: expect.any(String) });
    expect(Object.keys(paymentRequired['extensions'] as object)).toEqual(['bazaar', 'payment-identifier']);
    const elsewhere = await demand({ atEvent: false });
    expect(elsewhere.paymentRequired).not.toHaveProperty('extensions');
  });

  it.each(['open', 'large'])('is catalogued by the library as the event "%s"', async (event) => {
    const { demand, deployment } = await plant();
    const { paymentRequired } = await demand({ event });
    const { bazaar } = paymentRequired['extensions'] as { bazaar: never };
    expect(validateDiscoveryExtension(bazaar)).toEqual({ valid: true });
    expect(Buffer.from(JSON.stringify(paymentRequired['extensions'])).toString('base64').length).toBeLessThan(
      5000,
    );
    const payload = { x402Version: 2, ...paymentRequired, payload: {} } as never;
    const found = extractDiscoveryInfo(payload, (paymentRequired['accepts'] as never[])[0] as never);
    expect(found).toMatchObject({
      resourceUrl: `http://localhost:3000/app/deployments/${deployment.address}/events/${event}/execute`,
      discoveryInfo: { input: { type: 'http', method: 'POST', bodyType: 'json' } },
    });
    const described = found?.discoveryInfo.input as { body?: { input?: object } };
    expect(described.body).toEqual({ input: event === 'open' ? { id: 'text' } : {} });
  });

  it('passes on the extensions that it offered, as it offered them, and no others', async () => {
    const { call, demand } = await plant();
    const asked = await demand();
    const payment = await paymentBy(newAccount(), asked);
    const ours = asked.paymentRequired['extensions'] as JsonObject;
    const tampered = { ...(ours['bazaar'] as JsonObject), info: { lies: true } };
    payment.payload['extensions'] = { bazaar: tampered, other: { info: {} } };
    await call({ payment });
    expect(verified[0]?.extensions).toEqual({ bazaar: ours['bazaar'] });
    const plain = await paymentBy(newAccount(), await demand({ atEvent: false }));
    plain.payload['extensions'] = { bazaar: ours['bazaar'] } as JsonObject;
    await call({ payment: plain, atEvent: false });
    expect(verified[1]).not.toHaveProperty('extensions');
  });
});

describe('a payment identifier', () => {
  const named = async (by: ReturnType<typeof newAccount>, asked: PaymentDemand, id: string) => {
    const payment = await paymentBy(by, asked);
    const extensions = structuredClone(payment.payload['extensions'] ?? asked.paymentRequired['extensions']);
    payment.payload['extensions'] = appendPaymentIdentifierToExtensions(extensions as never, id) as never;
    return payment;
  };
  const ID = 'pay_0123456789abcdef';

  it('makes another payment for the same execution a repetition, which is not charged', async () => {
    const { call, demand, history } = await plant();
    const account = newAccount();
    const [one, two, three] = [
      await named(account, await demand(), ID),
      await named(account, await demand(), ID),
      await named(account, await demand(), ID),
    ];
    const first = await call({ payment: one });
    expect(await call({ payment: two })).toEqual(first);
    expect(await codeOf(call({ payment: three, input: { id: 'b' } }))).toBe('idempotency_key_reused');
    expect([chargesOf(one), chargesOf(two), chargesOf(three), (await history()).length]).toEqual([
      1, 0, 0, 1,
    ]);
  });

  it('belongs to its payer and its event', async () => {
    const { call, demand, history } = await plant();
    const account = newAccount();
    await call({ payment: await named(account, await demand(), ID) });
    await call({ payment: await named(newAccount(), await demand(), ID) });
    const large = { event: 'large' };
    await call({ ...large, payment: await named(account, await demand(large), ID) });
    expect(await history()).toHaveLength(3);
  });

  it('counts for signed executions, too', async () => {
    const { call, demand, history } = await plant();
    const account = newAccount();
    const signed = { byPayer: false, event: 'signed' };
    const first = await call({ ...signed, payment: await named(account, await demand(signed), ID) });
    const again = await call({ ...signed, payment: await named(account, await demand(signed), ID) });
    expect([again, (await history()).length]).toEqual([first, 1]);
  });

  it('executes once, however many payments come with it at once', async () => {
    const { call, demand, history } = await plant();
    const account = newAccount();
    const asked = await demand();
    const offers = await Promise.all(Array.from({ length: 10 }, () => named(account, asked, ID)));
    const answers = await Promise.all(offers.map((payment) => call({ payment, awaitsRun: true })));
    expect(new Set(answers.map(({ data }) => data.historyId)).size).toBe(1);
    expect(offers.reduce((sum, payment) => sum + chargesOf(payment), 0)).toBe(1);
    expect(await history()).toHaveLength(1);
  });

  it.each(['short', 'x'.repeat(129), 'sixteen letters!', 7])('is refused where it is %j', async (id) => {
    const { call, demand } = await plant();
    const payment = await paymentBy(newAccount(), await demand());
    payment.payload['extensions'] = { 'payment-identifier': { info: { required: false, id } } };
    expect(await codeOf(call({ payment }))).toBe('invalid_payment');
  });
});
