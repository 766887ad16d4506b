import { randomUUID } from 'node:crypto';
import { type HistoryEntry, type JsonObject, type PaymentDemand, runtimeContract } from '@orrery/contracts';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { TEST_NETWORKS } from '../src/runs/payments/payment-config.js';
import { createDeciderDouble } from './decider-double.js';
import { sendsTo } from './paying.js';
import { type Conduct, createPaymentWorld, paymentFor, RECEIVER } from './payment-world.js';
import { OTHER, plantDeployment, prepareHouse, refusalOf } from './running-runtime.js';

const house = await prepareHouse();
const decider = createDeciderDouble();
const { world, parties, reset } = createPaymentWorld();
const LLM = {
  model: 'double',
  request: { messages: [{ role: 'assistant', content: 'It is SECRET.' }] },
  response: '{"result":"SECRET"}',
  reasons: ['SECRET is no number'],
  usage: { usd: 0.1 },
};
const EVIDENCE = { llm: LLM, llmHash: 'c'.repeat(64) };
const PROPOSED = { 'counter:a': { count: 5 } };

let runtime: AsyncDisposable;
beforeAll(async () => {
  house.catalog.plantVersion({
    event: 'judged',
    executionSettings: { visibility: 'public', priceUsd: 0.01 },
    behaviorPrompt: 'Judge.',
    inputSchema: { id: 'string' },
    stateChanges: { counter: 'partial' },
  });
  const accepts = TEST_NETWORKS.accepts.filter(({ family }) => family === 'evm');
  const payments = { ...TEST_NETWORKS, accepts };
  runtime = await house.boot({ payments, paymentParties: parties, decider: decider.decider });
});
afterEach(reset);
afterAll(() => runtime[Symbol.asyncDispose]());

/** A deployment that shows the texts of its model, with one paid execution, which ended so. */
async function judged(conduct: Conduct, proposed: JsonObject) {
  const bindings = [{ event: 'judged', eventVersion: 1 }];
  const body = { bindings, payToAddress: RECEIVER, isLLMPublic: true };
  const { params, deployment, history } = await plantDeployment(house, body);
  await house.call('deployments.publish', { params });
  const send = sendsTo(house, deployment.address);
  const { facts } = await refusalOf(send({ event: 'judged' }));
  world.conduct = conduct;
  const payment = paymentFor(facts as unknown as PaymentDemand);
  const ended = send({ event: 'judged', payment }).catch(() => undefined);
  (await decider.calledBefore(ended)).answer(proposed, EVIDENCE);
  await ended;
  const [{ id = '', seq = 0 } = {}] = await history();
  return { ofAll: params, params: { ...params, historyId: id }, deployment: deployment.address, seq };
}

const asStranger = (name: 'history.list' | 'history.published' | 'history.get', params: object) =>
  house.bus.call(runtimeContract.rpcs[name], { params, query: {}, headers: {}, body: {} } as never, {
    caller: { kind: 'anonymous' },
    requestId: randomUUID(),
    deadline: Date.now() + 30_000,
  });

it.each([
  ['payment_refused', 'refused', 'refuses', PROPOSED],
  ['payment_already_used', 'refund_due', 'lies about refusal', PROPOSED],
  // Charged to nobody, whatever the facilitator would have done.
  ['ai_output_invalid', 'released', 'settles', { 'counter:a': { count: 'SECRET' } }],
] as const)(
  'what a model answered for an execution that failed with %s is told to its owner alone',
  async (code, status, conduct, proposed) => {
    const { ofAll, params, deployment, seq } = await judged(conduct, proposed);
    const owned = (await house.call('history.get', { params })).data;
    expect(owned).toMatchObject({ status: 'failed', error: { code }, payment: { status }, ...EVIDENCE });
    const { model, usage } = LLM;
    const another = (await house.call('history.get', { params }, { accountId: OTHER })).data;
    const { data } = (await asStranger('history.get', params)) as { data: HistoryEntry };
    for (const shown of [another, data]) {
      expect(shown).toMatchObject({ id: owned.id, hash: owned.hash, llmHash: EVIDENCE.llmHash });
      expect(shown.llm).toEqual({ model, usage, request: null });
      expect(JSON.stringify(shown)).not.toContain('SECRET');
    }
    for (const name of ['history.list', 'history.published'] as const) {
      const listed = JSON.stringify(await asStranger(name, ofAll));
      expect(listed).toContain(owned.id);
      expect(listed).not.toContain('SECRET');
    }
    // What streams, webhooks and chains are made of.
    const { entries } = await house.ask('journal.range', { deployment, after: seq - 1, limit: 1 });
    expect(entries).toMatchObject([{ id: owned.id }]);
    expect(JSON.stringify(entries)).not.toContain('SECRET');
  },
);

it('is told to everybody where the payment was charged for it', async () => {
  const { params } = await judged('settles', PROPOSED);
  const { data } = (await asStranger('history.get', params)) as { data: HistoryEntry };
  expect(data).toMatchObject({ status: 'succeeded', payment: { status: 'settled' }, llm: LLM });
});
