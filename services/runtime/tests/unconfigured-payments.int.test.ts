import { createLogger } from '@orrery/service-kit';
import { expect, it, vi } from 'vitest';
import { nameUnconfigured } from '../src/runs/payments/name-unconfigured.js';
import { TEST_NETWORKS } from '../src/runs/payments/payment-config.js';
import { incrementVersion } from './fake-catalog.js';
import { lookOnPayments, sendsTo } from './paying.js';
import { createPaymentWorld, paymentFor, RECEIVER } from './payment-world.js';
import { plantDeployment, prepareHouse, refusalOf } from './running-runtime.js';

const house = await prepareHouse();
const { db, query, makeDue, reconcile } = await lookOnPayments(house);
const { world, parties } = createPaymentWorld();
const ON_EVM = TEST_NETWORKS.accepts.filter(({ family }) => family === 'evm');

it('open payments in an asset that is configured no more are named at the start, until they have ended', async () => {
  const executionSettings = { visibility: 'public' as const, priceUsd: 0.01 };
  house.catalog.plantVersion({ ...incrementVersion, event: 'priced', executionSettings });
  const payments = { ...TEST_NETWORKS, accepts: ON_EVM, settleMs: 400 };
  const first = await house.boot({ payments, paymentParties: parties });
  const bindings = [{ event: 'priced', eventVersion: 1 }];
  const { params, deployment } = await plantDeployment(house, { bindings, payToAddress: RECEIVER });
  await house.call('deployments.publish', { params });
  const send = sendsTo(house, deployment.address);
  const pay = async () => send({ payment: paymentFor((await refusalOf(send())).facts as never) });
  // One that is done, one that is refused and looked at once more, and one that awaits its payment.
  expect((await pay()).data).toMatchObject({ event: 'priced' });
  world.conduct = 'refuses';
  await refusalOf(pay());
  world.conduct = 'unreachable';
  expect((await pay()).data).toMatchObject({ state: 'awaiting_payment' });
  await first[Symbol.asyncDispose]();

  const lines: string[] = [];
  const destination = { write: (line: string) => lines.push(line) };
  const logger = createLogger({ service: 'test', level: 'error', destination });
  const [asset] = ON_EVM;
  const accepts = ON_EVM.map((one) => ({ ...one, asset: `0x${'2'.repeat(40)}` }));
  world.isChainDown = true;
  const second = await house.boot({ payments: { ...payments, accepts }, paymentParties: parties, logger });
  const named = { level: 'error', network: asset?.network, asset: asset?.asset, payments: 2 };
  await vi.waitFor(() =>
    expect(lines.map((line) => JSON.parse(line)).filter((line) => 'asset' in line)).toMatchObject([
      { ...named, msg: expect.stringContaining('list it in PAYMENTS_FILE') },
    ]),
  );
  await second[Symbol.asyncDispose]();

  const spelled = ON_EVM.map((one) => ({ ...one, asset: one.asset.toLowerCase() }));
  const third = await house.boot({ payments: { ...payments, accepts: spelled }, paymentParties: parties });
  lines.length = 0;
  await nameUnconfigured({ db, payments: third.context.payments, logger });
  expect(lines).toEqual([]);

  world.isChainDown = false;
  world.isOver = true;
  await vi.waitFor(async () => {
    await makeDue();
    await reconcile(third.context.payments);
    expect(await query('select from runs where ended_at is null')).toEqual([]);
    expect(await query('select from payments where check_at is not null')).toEqual([]);
  });
  await nameUnconfigured({ db, payments: { isConfigured: () => false }, logger });
  expect(lines).toEqual([]);
  await third[Symbol.asyncDispose]();
});
