import type { EntryRandomness, JsonObject, PaymentDemand } from '@orrery/contracts';
import { chainOf, createRoundCheck, timeOfRound, uuidV7 } from '@orrery/deciding';
import { afterEach, expect, it, vi } from 'vitest';
import { TEST_NETWORKS } from '../src/runs/payments/payment-config.js';
import { startBeacon } from './beacon-server.js';
import { lookOnPayments, sendsTo } from './paying.js';
import { createPaymentWorld, paymentFor, RECEIVER } from './payment-world.js';
import { type House, plantDeployment, prepareHouse, refusalOf } from './running-runtime.js';

const house = await prepareHouse();
const beacon = house.resources.use('beacon', await startBeacon());
const chain = chainOf(beacon.info, beacon.config.chainHash);
if (chain === undefined) throw new Error('the beacon has no chain');
const { world, parties, reset } = createPaymentWorld();
const { query } = await lookOnPayments(house);
house.catalog.plantVersion({
  event: 'roll',
  versionId: 95,
  mutationSettings: {
    mode: 'direct',
    template: { 'counter:{{ input.id }}': { count: '{{ random.int(1, 1000000) }}' } },
  },
  executionSettings: { visibility: 'public', priceUsd: 0.01, randomness: 'drand' },
});

const running: AsyncDisposable[] = [];
const boot = async (options: Parameters<House['boot']>[0] = {}) => {
  const accepts = TEST_NETWORKS.accepts.filter(({ family }) => family === 'evm');
  const payments = { ...TEST_NETWORKS, accepts, settleMs: 20_000 };
  const dependencies = { beacon: beacon.config, payments, paymentParties: parties };
  running.push(await house.boot({ ...dependencies, ...options }));
};
const stop = async () => {
  for (const runtime of running.splice(0)) await runtime[Symbol.asyncDispose]();
};
afterEach(async () => {
  beacon.state.mode = 'on';
  reset();
  await stop();
});

/** A paid execution whose payment is unclear, and what its payer can compute meanwhile. */
async function unclearRoll() {
  const bindings = [{ event: 'roll', eventVersion: 1 }];
  const planted = await plantDeployment(house, { bindings, payToAddress: RECEIVER });
  const { params, deployment } = planted;
  await house.call('deployments.publish', { params });
  const send = sendsTo(house, deployment.address);
  const asked = { event: 'roll', at: Date.now() - 600 };
  const { facts } = await refusalOf(send(asked));
  // The charge may come minutes later on a busy machine.
  const validBefore = String(Math.floor(Date.now() / 1000) + 590);
  const payment = paymentFor(facts as unknown as PaymentDemand, 2, { validBefore });
  world.conduct = 'answers 500';
  const { data } = await send({ ...asked, payment });
  const { executionId, state } = data as unknown as JsonObject;
  expect(state).toBe('awaiting_payment');
  const [known] = await query<EntryRandomness>(
    `select r.* from runs, jsonb_to_record(staged->'entry'->'recorded'->'randomness') r (round integer, seed text)
     where id = $1`,
    [executionId],
  );
  if (known?.round === undefined) throw new Error('nothing was drawn');
  return { ...planted, executionId, known: { seed: known.seed, round: known.round } };
}

type Unclear = Awaited<ReturnType<typeof unclearRoll>>;

const entryOf = ({ history }: Unclear) =>
  vi.waitFor(async () => {
    const [entry] = await history();
    if (entry === undefined) throw new Error('it has not ended');
    return entry;
  });

it('draws from a round that nobody knew when its payment was charged, where that was unclear', async () => {
  await boot();
  const unclear = await unclearRoll();
  const chargedAfter = Date.now();
  world.conduct = 'settles';
  const entry = await entryOf(unclear);
  const { round = 0, seed, run } = entry.randomness ?? {};
  expect({ status: entry.status, run }).toEqual({ status: 'succeeded', run: unclear.executionId });
  expect(seed).not.toBe(unclear.known.seed);
  expect(timeOfRound(chain, round)).toBeGreaterThan(chargedAfter);
  expect(await createRoundCheck(chain)(entry as never)).toBe(true);
  const check = { params: unclear.params, query: { decisions: 'true' } };
  expect((await house.call('history.verify', check)).data).toMatchObject({
    valid: true,
    decisions: { rerun: 1, seeds: { checked: 1, notChecked: {} } },
  });
});

it('waits for the beacon where the next owner learns of the charge, and does not know the chain yet', async () => {
  await boot();
  const unclear = await unclearRoll();
  await stop();
  beacon.state.mode = 'away';
  const asked = beacon.state.refused;
  world.conduct = 'settles';
  await boot();
  await vi.waitFor(() => expect(beacon.state.refused).toBeGreaterThan(asked + 1));
  expect(await unclear.history()).toEqual([]);
  beacon.state.mode = 'on';
  const { status, randomness } = await entryOf(unclear);
  expect(status).toBe('succeeded');
  expect(randomness?.round).toBeGreaterThan(unclear.known.round);
});

it('is due for a refund where the charge is known so late that no round would be taken', async () => {
  await boot();
  const unclear = await unclearRoll();
  await stop();
  world.conduct = 'settles';
  const requested = uuidV7(Date.now() - 30 * 60_000);
  for (const name of ['runs.id', 'once_keys.run_id', 'payments.run_id']) {
    const [table, column] = name.split('.');
    await query(`update ${table} set ${column} = $1 where ${column} = $2`, [requested, unclear.executionId]);
  }
  await boot();
  const entry = await entryOf(unclear);
  expect(entry).toMatchObject({
    status: 'failed',
    error: { code: 'randomness_unavailable', facts: { refundDue: true } },
    payment: { status: 'refund_due' },
  });
  expect(entry.randomness).toBeUndefined();
});
