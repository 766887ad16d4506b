import type { OfferedPayment, PaymentDemand } from '@orrery/contracts';
import { type Conduct, type EvmPayments, startEvmPayments } from '@orrery/testing/payments';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { ExactEvmSchemeV1 } from '@x402/evm/v1';
import { createWalletClient, type Hex, http, parseAbi, parseSignature } from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { baseSepolia } from 'viem/chains';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { TEST_NETWORKS } from '../src/runs/payments/payment-config.js';
import { incrementVersion } from './fake-catalog.js';
import { lookOnPayments, sendsTo } from './paying.js';
import { codeOf, type House, plantDeployment, prepareHouse, refusalOf } from './running-runtime.js';

const house: House = await prepareHouse();
const rows = await lookOnPayments(house);
let evm: EvmPayments;

const RECEIVER = '0x2222222222222222222222222222222222222222';
const PRICE = 10_000n;

const running: AsyncDisposable[] = [];
const boot = async (settleMs = 20_000) => {
  const accepts = TEST_NETWORKS.accepts.map((one) => ({ ...one, rpcUrls: [evm.rpcUrl] }));
  const runtime = await house.boot({ payments: { facilitatorUrl: evm.facilitator.url, accepts, settleMs } });
  running.push(runtime);
  return runtime;
};

const startChain = async () => {
  evm = house.resources.use('a chain and its facilitator', await startEvmPayments());
  isLate = false;
};
let isLate = false;
/** Ends the validity of all payments by the chain's clock, which stays ahead: the next test gets another chain. */
const expireAll = async () => {
  isLate = true;
  await evm.advance(700);
};

beforeAll(async () => {
  await startChain();
  const executionSettings = { visibility: 'public' as const, priceUsd: 0.01 };
  house.catalog.plantVersion({ ...incrementVersion, event: 'priced', executionSettings });
});
afterEach(async () => {
  evm.facilitator.conduct = 'honest';
  evm.facilitator.verifiesBadly = false;
  evm.facilitator.beforeSettling = async () => undefined;
  for (const runtime of running.splice(0)) await runtime[Symbol.asyncDispose]();
  if (isLate) await startChain();
});

async function plant() {
  const bindings = [{ event: 'priced', eventVersion: 1 }];
  const planted = await plantDeployment(house, { bindings, payToAddress: RECEIVER });
  const { params, deployment } = planted;
  await house.call('deployments.publish', { params });
  const sends = sendsTo(house, deployment.address);
  const send = (payment: OfferedPayment | null = null, at?: number) => sends({ payment, at });
  const list = async () => (await house.call('payments.list', { params, query: {} })).data;
  return { ...planted, send, list };
}

interface Offer {
  readonly key: Hex;
  readonly payment: OfferedPayment;
  readonly uses: () => Promise<number>;
}

/** A payment as the x402 library's client makes it, by a payer with enough for two. */
async function offerFor({ facts }: { facts: object }, version: 1 | 2 = 2): Promise<Offer> {
  const { accepts, paymentRequired } = facts as unknown as PaymentDemand;
  const key = generatePrivateKey();
  const payer = privateKeyToAccount(key);
  await evm.fund(payer.address, 2n * PRICE);
  const [v2] = paymentRequired['accepts'] as object[];
  const made =
    version === 1
      ? await new ExactEvmSchemeV1(payer).createPaymentPayload(1, accepts[0] as never)
      : await new ExactEvmScheme(payer).createPaymentPayload(2, v2 as never);
  const payload = (version === 1 ? made : { ...made, accepted: v2 }) as unknown as OfferedPayment['payload'];
  const { nonce } = (made.payload as { authorization: { nonce: Hex } }).authorization;
  return { key, payment: { version, payload }, uses: () => evm.usesOf(payer.address, nonce) };
}

describe('a payment on an EVM chain', () => {
  it.each([1, 2] as const)('of version %i moves the price to the receiver once', async (version) => {
    await boot();
    const { send, list, history } = await plant();
    const before = await evm.balanceOf(RECEIVER);
    const offer = await offerFor(await refusalOf(send()), version);
    const at = Date.now() - 2000;
    const first = await send(offer.payment, at);
    const [{ transaction } = {}] = await list();
    expect(first.payment).toMatchObject({ version, response: { success: true, transaction } });
    expect(await evm.chain.getTransactionReceipt({ hash: transaction as Hex })).toMatchObject({
      status: 'success',
    });
    expect(await send(offer.payment, at)).toEqual(first);
    expect(await evm.balanceOf(RECEIVER)).toBe(before + PRICE);
    expect(await offer.uses()).toBe(1);
    expect(await history()).toMatchObject([
      { status: 'succeeded', payment: { status: 'settled', transaction } },
    ]);
  });

  it('counts whatever the case of the letters in its payer, and shows them as EIP-55 wants them', async () => {
    await boot();
    const { send, list } = await plant();
    const { payment, key, uses } = await offerFor(await refusalOf(send()));
    const { address } = privateKeyToAccount(key);
    const spelled = structuredClone(payment) as unknown as {
      payload: { payload: { authorization: { from: string } } };
    };
    // The first letter is in the wrong case, so the checksum is broken.
    const other = (letter: string) => (letter < 'a' ? letter.toLowerCase() : letter.toUpperCase());
    spelled.payload.payload.authorization.from = `0x${address.slice(2).replace(/[a-f]/i, other)}`;
    const first = await send(spelled as never);
    expect(first.payment).toMatchObject({ response: { success: true, payer: address } });
    expect(await list()).toMatchObject([{ status: 'settled', payer: address }]);
    expect(await send(payment)).toEqual(first);
    expect(await uses()).toBe(1);
  });

  it('is refused by the facilitator when its payer has too little, or its signature is another’s', async () => {
    await boot();
    const { send, history } = await plant();
    const asked = await refusalOf(send());
    const poor = await offerFor(asked);
    await evm.empty(poor.key);
    const refused = await refusalOf(send(poor.payment));
    expect([refused.code, refused.message]).toEqual([
      'payment_refused',
      expect.stringMatching(/balance|simulation/),
    ]);
    const [one, other] = [await offerFor(asked), await offerFor(asked)];
    const forged = structuredClone(one.payment) as unknown as { payload: { payload: { signature: string } } };
    forged.payload.payload.signature = (other.payment.payload['payload'] as { signature: string }).signature;
    expect(await codeOf(send(forged as never))).toBe('payment_refused');
    expect(await history()).toEqual([]);
  });

  it('that cannot be settled any more fails the execution and charges nobody', async () => {
    await boot();
    const { send, history, list } = await plant();
    const offer = await offerFor(await refusalOf(send()));
    evm.facilitator.beforeSettling = () => evm.empty(offer.key);
    expect(await codeOf(send(offer.payment))).toBe('payment_refused');
    expect(await history()).toMatchObject([{ status: 'failed', payment: { status: 'refused' } }]);
    expect(await list()).toMatchObject([{ reason: expect.stringMatching(/balance/) }]);
    expect(await offer.uses()).toBe(0);
  });

  it('whose nonce its payer spends on something else is refused for good', async () => {
    await boot();
    const { send, list } = await plant();
    const offer = await offerFor(await refusalOf(send()));
    evm.facilitator.beforeSettling = () => spendNonce(offer);
    expect(await codeOf(send(offer.payment))).toBe('payment_refused');
    expect(await list()).toMatchObject([
      { status: 'refused', reason: expect.stringMatching(/used_otherwise/) },
    ]);
    expect(await offer.uses()).toBe(1);
    const final = await rows.query('select from payments where status = $1 and check_at is null', [
      'refused',
    ]);
    expect(final.length).toBeGreaterThan(0);
  });

  it('is not asked for while the facilitator cannot verify', async () => {
    await boot();
    const { send, history } = await plant();
    const offer = await offerFor(await refusalOf(send()));
    evm.facilitator.verifiesBadly = true;
    for (const [conduct, words] of [
      ['unreachable', 'cannot be reached'],
      ['answers 500', 'answered with an error (HTTP 500)'],
    ] as const) {
      evm.facilitator.conduct = conduct;
      await expect(send(offer.payment)).rejects.toMatchObject({
        code: 'unavailable',
        message: `The payment facilitator ${words}. Nothing was charged: repeat the request later.`,
      });
    }
    expect(await history()).toEqual([]);
    evm.facilitator.conduct = 'honest';
    evm.facilitator.verifiesBadly = false;
    expect((await send(offer.payment)).data.seq).toBe(3);
  });

  it.each<Conduct>(['slow', 'drops its reply'])(
    'by a facilitator that is or does: %s, is settled once',
    async (conduct) => {
      await boot();
      const { send, list } = await plant();
      const offer = await offerFor(await refusalOf(send()));
      evm.facilitator.conduct = conduct;
      expect(await send(offer.payment)).toMatchObject({ payment: { response: { success: true } } });
      expect(await list()).toMatchObject([{ status: 'settled' }]);
      expect(await offer.uses()).toBe(1);
    },
  );

  it('is one settlement and one execution, however many copies arrive at two runtimes', async () => {
    await boot();
    await boot();
    const { send, history } = await plant();
    const offer = await offerFor(await refusalOf(send()));
    const at = Date.now() - 3000;
    const { settle: settled, verify: verified } = evm.facilitator.calls;
    const outcomes = await Promise.allSettled(
      Array.from({ length: 50 }, (_, n) => send(offer.payment, n % 2 === 0 ? at : undefined)),
    );
    const answers = outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value.data.historyId] : []));
    const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []));
    expect(new Set(answers).size).toBe(1);
    expect(new Set(refused)).toEqual(new Set(['request_in_flight']));
    expect(evm.facilitator.calls.settle - settled).toBe(1);
    expect(evm.facilitator.calls.verify - verified).toBeLessThan(10);
    expect(await offer.uses()).toBe(1);
    expect(await history()).toHaveLength(1);
  });

  it.each(['unreachable', 'answers 500', 'lies about success', 'refuses without a reason'] as const)(
    'by a facilitator that is or does: %s, is awaited without holds, and found out',
    async (conduct) => {
      await boot(1000);
      const { send, list, counter, history } = await plant();
      const asked = await refusalOf(send());
      const [later, never] = [await offerFor(asked), await offerFor(asked)];
      const [one, two] = [Date.now() - 2000, Date.now() - 1000];
      evm.facilitator.conduct = conduct;
      expect(await send(later.payment, one)).toEqual(awaited);
      expect(await send(never.payment, two)).toEqual(awaited);
      expect(await history()).toEqual([]);
      await evm.empty(never.key);
      evm.facilitator.conduct = 'honest';
      // What a reply has named is not sent again by us; whoever sees an authorization can submit it.
      if (conduct === 'lies about success') await expireAll();
      else await vi.waitFor(async () => expect(await send(later.payment, one)).toMatchObject(settled));
      await expireAll();
      await vi.waitFor(async () => expect(await codeOf(send(never.payment, two))).toBe('payment_refused'));
      const uses = conduct === 'lies about success' ? 0 : 1;
      if (uses > 0) expect(await counter('a')).toMatchObject({ state: { count: 1 } });
      expect([await later.uses(), await never.uses()]).toEqual([uses, 0]);
      await vi.waitFor(async () =>
        expect((await list()).map(({ status }) => status).sort()).toEqual(
          uses > 0 ? ['refused', 'settled'] : ['refused', 'refused'],
        ),
      );
    },
  );

  it('that its payer empties its account for in the block of the settlement is refused', async () => {
    await boot();
    const { send, list, history, counter } = await plant();
    const offer = await offerFor(await refusalOf(send()));
    evm.emptyFirst(offer.key);
    const refused = await refusalOf(send(offer.payment));
    expect(refused).toMatchObject({ code: 'payment_refused', facts: { reason: 'transaction_failed' } });
    expect(refused.message.length).toBeLessThan(200);
    expect(await list()).toMatchObject([{ status: 'refused', reason: 'transaction_failed' }]);
    expect(await history()).toMatchObject([{ status: 'failed' }]);
    expect(await codeOf(counter('a'))).toBe('entity_instance_not_found');
    expect(await offer.uses()).toBe(0);
  });

  it('that somebody else has submitted is not executed, and due for a refund', async () => {
    await boot();
    const { send, list, history, counter } = await plant();
    const offer = await offerFor(await refusalOf(send()));
    evm.facilitator.beforeSettling = () => submitAuthorization(offer);
    const refused = await refusalOf(send(offer.payment));
    expect(refused).toMatchObject({
      code: 'payment_already_used',
      facts: { reason: 'settled_elsewhere', refundDue: true },
    });
    expect(await list()).toMatchObject([{ status: 'refund_due', reason: 'settled_elsewhere' }]);
    expect(await history()).toMatchObject([{ status: 'failed', payment: { status: 'refund_due' } }]);
    expect(await codeOf(counter('a'))).toBe('entity_instance_not_found');
    expect(await offer.uses()).toBe(1);
  });
});

const awaited = {
  data: { kind: 'accepted', executionId: expect.any(String), state: 'awaiting_payment' },
  payment: null,
};
const settled = { data: { event: 'priced' }, payment: { response: { success: true } } };

/** Somebody who has seen an authorization submits it, without the facilitator. */
async function submitAuthorization({ payment }: Offer): Promise<void> {
  const { authorization, signature } = payment.payload['payload'] as {
    authorization: Record<string, string>;
    signature: Hex;
  };
  await useAuthorization(privateKeyToAccount(generatePrivateKey()), authorization, signature);
}

/** The payer signs a transfer to itself with the nonce of its payment, and has it executed first. */
async function spendNonce({ key, payment }: Offer): Promise<void> {
  const account = privateKeyToAccount(key);
  const { authorization } = payment.payload['payload'] as { authorization: Record<string, string> };
  const message = {
    from: account.address,
    to: account.address,
    value: 1n,
    validAfter: 0n,
    validBefore: BigInt(authorization['validBefore'] ?? 0),
    nonce: authorization['nonce'] as Hex,
  };
  const members = [
    ['from', 'address'],
    ['to', 'address'],
    ['value', 'uint256'],
    ['validAfter', 'uint256'],
    ['validBefore', 'uint256'],
    ['nonce', 'bytes32'],
  ].map(([name = '', type = '']) => ({ name, type }));
  const signature = await account.signTypedData({
    domain: { name: 'USDC', version: '2', chainId: baseSepolia.id, verifyingContract: evm.token },
    types: { TransferWithAuthorization: members },
    primaryType: 'TransferWithAuthorization',
    message,
  });
  await useAuthorization(
    account,
    { ...authorization, to: account.address, value: '1', validAfter: '0' },
    signature,
  );
}

/** Executes a transfer that was authorized, from an account of its own. */
async function useAuthorization(
  account: PrivateKeyAccount,
  { from, to, value, validAfter, validBefore, nonce }: Record<string, string>,
  signature: Hex,
): Promise<void> {
  const { r, s, v } = parseSignature(signature);
  const client = createWalletClient({
    chain: baseSepolia,
    account,
    transport: http(evm.rpcUrl, { timeout: 120_000 }),
  });
  const balance = [account.address, '0xde0b6b3a7640000'];
  await evm.chain.request({ method: 'anvil_setBalance', params: balance } as never);
  const hash = await client.writeContract({
    address: evm.token,
    abi: parseAbi([
      'function transferWithAuthorization(address, address, uint256, uint256, uint256, bytes32, uint8, bytes32, bytes32)',
    ]),
    functionName: 'transferWithAuthorization',
    args: [
      from as Hex,
      to as Hex,
      BigInt(value ?? 0),
      BigInt(validAfter ?? 0),
      BigInt(validBefore ?? 0),
      nonce as Hex,
      Number(v),
      r,
      s,
    ],
  });
  await evm.chain.waitForTransactionReceipt({ hash });
}
