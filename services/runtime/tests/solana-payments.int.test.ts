import type { OfferedPayment, PaymentDemand } from '@orrery/contracts';
import { createLogger } from '@orrery/service-kit';
import { type Conduct, type SolanaPayments, startSolanaPayments } from '@orrery/testing/payments';
import { serveJsonRpc } from '@orrery/testing/servers';
import { type Address, generateKeyPairSigner, type KeyPairSigner } from '@solana/kit';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import { ExactSvmSchemeV1 } from '@x402/svm/v1';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Payment } from '../src/core/payments/payment.js';
import { TEST_NETWORKS } from '../src/runs/payments/payment-config.js';
import { createSolanaChain } from '../src/runs/payments/solana-chain.js';
import { createSolanaFacts } from '../src/runs/payments/solana-facts.js';
import { incrementVersion } from './fake-catalog.js';
import { sendsTo } from './paying.js';
import { codeOf, type House, plantDeployment, prepareHouse, refusalOf } from './running-runtime.js';

const house: House = await prepareHouse();
let solana: SolanaPayments;
let receiver: Address;

const PRICE = 10_000n;
const DEVNET = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';

const running: AsyncDisposable[] = [];
const boot = async ({ settleMs = 20_000, facilitatorUrl = solana.facilitator.url } = {}) => {
  const accepts = TEST_NETWORKS.accepts.map((one) => ({ ...one, rpcUrls: [solana.rpcUrl] }));
  const runtime = await house.boot({ payments: { facilitatorUrl, accepts, settleMs } });
  running.push(runtime);
  return runtime;
};

beforeAll(async () => {
  solana = house.resources.use('a ledger and its facilitator', await startSolanaPayments());
  receiver = (await generateKeyPairSigner()).address;
  await solana.ledger.fund(receiver, 0n);
  const executionSettings = { visibility: 'public' as const, priceUsd: 0.01 };
  house.catalog.plantVersion({ ...incrementVersion, event: 'priced', executionSettings });
  house.catalog.plantVersion({
    ...incrementVersion,
    event: 'free',
    executionSettings: { visibility: 'public' },
  });
});
afterEach(async () => {
  solana.facilitator.conduct = 'honest';
  solana.facilitator.beforeSettling = async () => undefined;
  solana.beforeAnswering = async () => undefined;
  for (const runtime of running.splice(0)) await runtime[Symbol.asyncDispose]();
});

async function plant() {
  const bindings = ['priced', 'free'].map((event) => ({ event, eventVersion: 1 }));
  const planted = await plantDeployment(house, { bindings, payToAddress: receiver });
  const { params, deployment } = planted;
  await house.call('deployments.publish', { params });
  const sends = sendsTo(house, deployment.address);
  const send = (payment: OfferedPayment | null = null, options: { at?: number; event?: string } = {}) =>
    sends({ payment, ...options });
  const list = async () => (await house.call('payments.list', { params, query: {} })).data;
  return { ...planted, send, list };
}

/** A payment as the x402 library's client makes it, by a payer with enough for two. */
async function offerFor(
  { facts }: { facts: object },
  version: 1 | 2 = 2,
  changes: object = {},
  given?: KeyPairSigner,
): Promise<OfferedPayment> {
  const { accepts, paymentRequired } = facts as unknown as PaymentDemand;
  const payer = given ?? (await generateKeyPairSigner());
  await solana.ledger.fund(payer.address, 2n * PRICE);
  const [v2] = paymentRequired['accepts'] as object[];
  const rpc = { rpcUrl: solana.rpcUrl };
  const made =
    version === 1
      ? await new ExactSvmSchemeV1(payer, rpc).createPaymentPayload(1, { ...accepts[0], ...changes } as never)
      : await new ExactSvmScheme(payer, rpc).createPaymentPayload(2, { ...v2, ...changes } as never);
  const payload = (version === 1 ? made : { ...made, accepted: v2 }) as unknown as OfferedPayment['payload'];
  return { version, payload };
}

describe('a payment on Solana', () => {
  it.each([1, 2] as const)('of version %i moves the price to the receiver once', async (version) => {
    await boot();
    const { send, list, history } = await plant();
    const before = await solana.ledger.balanceOf(receiver);
    const payment = await offerFor(await refusalOf(send()), version);
    const at = Date.now() - 2000;
    const first = await send(payment, { at });
    const [{ transaction, payer } = {}] = await list();
    expect(first.payment).toMatchObject({ version, response: { success: true, transaction, payer } });
    expect(solana.ledger.executed[0]).toMatchObject({ signature: transaction, error: null });
    expect(await send(payment, { at })).toEqual(first);
    expect(await solana.ledger.balanceOf(receiver)).toBe(before + PRICE);
    expect(await history()).toMatchObject([{ payment: { status: 'settled', network: 'solana-devnet' } }]);
  });

  it('names the fee payer and its own time limit', async () => {
    await boot();
    const { facts } = await refusalOf((await plant()).send());
    expect(facts['accepts']).toMatchObject([
      {
        network: 'solana-devnet',
        payTo: receiver,
        maxTimeoutSeconds: 60,
        extra: { feePayer: expect.any(String) },
      },
    ]);
  });

  it('is refused when it is for anything else, or no payment at all', async () => {
    await boot();
    const { send, history } = await plant();
    const asked = await refusalOf(send());
    const stranger = (await generateKeyPairSigner()).address;
    await solana.ledger.fund(stranger, 0n);
    for (const [changes, reason] of [
      [{ amount: '9999' }, /amount/],
      [{ payTo: stranger }, /receiver/],
      [{ extra: { feePayer: stranger } }, /fee payer/],
    ] as const) {
      const refused = await refusalOf(send(await offerFor(asked, 2, changes)));
      expect([refused.code, refused.message]).toEqual(['payment_refused', expect.stringMatching(reason)]);
    }
    const { payload } = await offerFor(asked);
    for (const transaction of ['', 'AAAA', 'x'.repeat(3000), 7])
      expect(await codeOf(send({ version: 2, payload: { ...payload, payload: { transaction } } }))).toBe(
        'invalid_payment',
      );
    expect(await history()).toEqual([]);
  });

  it('needs the facilitator for what is asked for, and other events do not', async () => {
    await boot({ facilitatorUrl: 'http://127.0.0.1:9' });
    const { send } = await plant();
    expect(await codeOf(send())).toBe('unavailable');
    expect((await send(null, { event: 'free' })).data.event).toBe('free');
  });

  it.each<Conduct>(['drops its reply'])('by a facilitator that %s is settled once', async (conduct) => {
    await boot();
    const { send, list } = await plant();
    const payment = await offerFor(await refusalOf(send()));
    const before = await solana.ledger.balanceOf(receiver);
    solana.facilitator.conduct = conduct;
    expect(await send(payment)).toMatchObject({ payment: { response: { success: true } } });
    expect(await list()).toMatchObject([
      { status: 'settled', transaction: solana.ledger.executed[0]?.signature },
    ]);
    expect(await solana.ledger.balanceOf(receiver)).toBe(before + PRICE);
  });

  it('that has expired when it is settled fails the execution and charges nobody', async () => {
    await boot();
    const { send, history } = await plant();
    const payment = await offerFor(await refusalOf(send()));
    solana.facilitator.beforeSettling = async () => solana.ledger.expire();
    expect(await codeOf(send(payment))).toBe('payment_refused');
    expect(await history()).toMatchObject([{ status: 'failed', payment: { status: 'refused' } }]);
  });

  it('is searched on where an earlier search was given up', async () => {
    await boot();
    const { send } = await plant();
    const asked = await refusalOf(send());
    const payer = await generateKeyPairSigner();
    const offers = [];
    for (let count = 0; count < 6; count += 1) {
      offers.push(await offerFor(asked, 2, {}, payer));
      await send(offers.at(-1));
    }
    const reads: string[] = [];
    const givenUp = new AbortController();
    solana.beforeAnswering = async (method) => {
      if (method === 'getTransaction') reads.push(method);
      if (reads.length === 4) givenUp.abort();
    };
    const chain = chainAt(solana.rpcUrl);
    // The first payment is the last one that a search comes to.
    const payment = { payload: offers[0]?.payload['payload'], validUntil: Date.now() } as unknown as Payment;
    const since = Date.now();
    const { signal } = givenUp;
    await expect(chain.look(payment, { since, named: [], signal })).rejects.toThrow(/aborted/);
    expect(reads).toHaveLength(4);
    expect(await chain.look(payment, { since, named: [], signal: new AbortController().signal })).toEqual({
      kind: 'charged',
      transaction: solana.ledger.executed[5]?.signature,
      at: expect.any(Number),
    });
    // The three that were read before are not read again.
    expect(reads).toHaveLength(4 + 3);
  });

  it('is searched behind any number of later transactions, on from where an earlier search was given up', async () => {
    await boot();
    const { send } = await plant();
    const offer = await offerFor(await refusalOf(send()));
    await send(offer);
    const since = Date.now();
    const payment = { payload: offer.payload['payload'], validUntil: since } as unknown as Payment;
    solana.ledger.expire();
    const busy = await startBusyNode(Math.ceil(since / 1000) + 1000);
    const chain = chainAt(busy.url);
    const look = (signal = new AbortController().signal) => chain.look(payment, { since, named: [], signal });
    const charged = { kind: 'charged', transaction: solana.ledger.executed[0]?.signature };

    const givenUp = new AbortController();
    busy.beforePage = (page) => {
      if (page === 11) givenUp.abort();
    };
    await expect(look(givenUp.signal)).rejects.toThrow(/aborted/);
    busy.beforePage = () => undefined;
    busy.asked.length = 0;
    expect(await look()).toMatchObject(charged);
    expect(busy.asked[0]).toBe('later-9998');
    expect(busy.asked).toHaveLength(16);

    // Another node, which lacks what the first one has shown.
    busy.beforePage = () => {
      throw new Error('unknown signature');
    };
    await expect(look()).rejects.toThrow();
    busy.beforePage = () => undefined;
    busy.asked.length = 0;
    expect(await look()).toMatchObject(charged);
    expect(busy.asked[0]).toBeUndefined();
    busy.lacks = 'later-24998';
    busy.asked.length = 0;
    expect(await look()).toMatchObject(charged);
    expect(busy.asked.slice(0, 3)).toEqual([busy.lacks, undefined, 'later-999']);
  });

  it('that is unclear is settled later, or refused once it has expired', async () => {
    await boot({ settleMs: 400 });
    const { send, list, history } = await plant();
    const asked = await refusalOf(send());
    const [later, never] = [await offerFor(asked), await offerFor(asked)];
    const [one, two] = [Date.now() - 2000, Date.now() - 1000];
    solana.facilitator.conduct = 'unreachable';
    expect((await send(later, { at: one })).data).toMatchObject(awaited);
    expect(await history()).toEqual([]);
    solana.facilitator.conduct = 'honest';
    await vi.waitFor(async () =>
      expect(await send(later, { at: one })).toMatchObject({ data: { event: 'priced' } }),
    );
    solana.facilitator.conduct = 'unreachable';
    expect((await send(never, { at: two })).data).toMatchObject(awaited);
    solana.ledger.expire();
    await vi.waitFor(async () => expect(await codeOf(send(never, { at: two }))).toBe('payment_refused'));
    expect(await list()).toMatchObject([
      { status: 'refused', reason: 'authorization_expired' },
      { status: 'settled' },
    ]);
  });

  it('that its facilitator charged and denied is not executed, and due for a refund', async () => {
    await boot();
    const { send, list } = await plant();
    solana.facilitator.conduct = 'lies about refusal';
    expect(await codeOf(send(await offerFor(await refusalOf(send()))))).toBe('payment_already_used');
    expect(await list()).toMatchObject([{ status: 'refund_due', reason: 'settled_elsewhere' }]);
  });
});

const silent = createLogger({ service: 'test', level: 'silent' });
const chainAt = (url: string) =>
  createSolanaChain({ network: 'solana-devnet', caip2: DEVNET, rpcUrls: [url] }, silent);

/** A node that shows 25,000 transactions of every payer that came after those of the ledger, at a time in seconds. */
async function startBusyNode(blockTime: number) {
  const later = Array.from({ length: 25_000 }, (_, index) => `later-${index}`);
  const served = {
    url: '',
    /** The signatures before which transactions were asked for. */
    asked: [] as unknown[],
    beforePage: (_page: number): void => undefined,
    lacks: undefined as unknown,
  };
  const ask = async (method: string, params: unknown) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(solana.rpcUrl, { method: 'POST', headers, body });
    return ((await answer.json()) as { result: unknown }).result;
  };
  const node = await serveJsonRpc(async (method: string, params: [unknown, { before?: string }]) => {
    if (method !== 'getSignaturesForAddress') return ask(method, params);
    const { before } = params[1];
    served.beforePage(served.asked.push(before));
    if (before !== undefined && before === served.lacks) return [];
    const from = before === undefined ? 0 : later.indexOf(before) + 1;
    const page = later.slice(from, from + 1000).map((signature) => ({
      ...{ signature, blockTime, slot: 1000, err: null, memo: null, confirmationStatus: 'finalized' },
    }));
    const own = page.length < 1000 ? await ask(method, [params[0], {}]) : [];
    return [...page, ...(own as object[])];
  }, -32601);
  house.resources.use('a busy node', node);
  served.url = node.url;
  return served;
}

const awaited = { kind: 'accepted', executionId: expect.any(String), state: 'awaiting_payment' };

describe('what a payer without a node of Solana is told', () => {
  const [asset] = TEST_NETWORKS.accepts.filter(({ family }) => family === 'solana');
  if (asset === undefined) throw new Error('the test networks have no Solana');
  const query = { network: asset.caip2, asset: asset.asset };

  it('is what the nodes of the operator say, and why they say nothing', async () => {
    await boot();
    const ask = (more: object = {}) => house.call('payments.solana', { query: { ...query, ...more } });
    expect((await ask()).data).toEqual({
      ...query,
      decimals: 6,
      tokenProgram: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
      blockhash: solana.ledger.latestBlockhash(),
      lastValidBlockHeight: 150,
    });
    expect(await codeOf(ask({ asset: 'another' }))).toBe('unknown_chain');
    expect(await codeOf(ask({ network: 'eip155:84532' }))).toBe('unknown_chain');
  });

  it('is asked of them once a second, however many ask, and when they fail, too', async () => {
    let now = 0;
    const asked: string[] = [];
    solana.beforeAnswering = async (method) => void asked.push(method);
    const clock = { monotonic: () => now } as Parameters<typeof createSolanaFacts>[1];
    const factsAt = (rpcUrls: string[]) => {
      const facts = createSolanaFacts([{ ...asset, rpcUrls }], clock, silent);
      return () => facts(query.network, query.asset);
    };
    const facts = factsAt([solana.rpcUrl]);
    await Promise.all([facts(), facts()]);
    now = 999;
    await facts();
    expect(asked.sort()).toEqual(['getAccountInfo', 'getLatestBlockhash']);
    now = 1000;
    solana.ledger.expire();
    expect(await facts()).toMatchObject({ blockhash: solana.ledger.latestBlockhash() });

    solana.beforeAnswering = async (method) => {
      asked.push(method);
      throw new Error('no answer');
    };
    now = 2000;
    const before = asked.length;
    expect(await codeOf(facts())).toBe('unavailable');
    expect(await codeOf(facts())).toBe('unavailable');
    expect(asked.length - before).toBe(2);
    expect(await codeOf(factsAt([])())).toBe('unknown_chain');
  });
});
