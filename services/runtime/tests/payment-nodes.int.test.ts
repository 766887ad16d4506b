import { createLogger } from '@orrery/service-kit';
import { serveJsonRpc } from '@orrery/testing/servers';
import {
  type AccountMeta,
  AccountRole,
  type Address,
  appendTransactionMessageInstruction,
  createTransactionMessage,
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ChargeSearch, Payment, PaymentAsset } from '../src/core/payments/payment.js';
import { createEvmChain } from '../src/runs/payments/evm-chain.js';
import { TEST_NETWORKS } from '../src/runs/payments/payment-config.js';
import { networkParties } from '../src/runs/payments/payments.js';
import { settlePayment } from '../src/runs/payments/settle-payment.js';
import { createSolanaChain } from '../src/runs/payments/solana-chain.js';

const [BASE, DEVNET] = TEST_NETWORKS.accepts as [PaymentAsset, PaymentAsset];
const GENESIS = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG';
const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' as Address;

const errors = vi.fn();
const logger = Object.assign(createLogger({ service: 'test', level: 'silent' }), { error: errors });
const clock = { now: () => 0, monotonic: () => 0, sleep: async () => undefined };
const search = (named: string[] = []): ChargeSearch => ({
  ...{ since: NOW, named, signal: new AbortController().signal },
});
const NOW = Date.now();
const SECONDS = Math.floor(NOW / 1000);

const nodes: AsyncDisposable[] = [];
afterEach(async () => {
  errors.mockClear();
  for (const node of nodes.splice(0)) await node[Symbol.asyncDispose]();
});

type Answers = Record<string, (first: never, options: { minContextSlot?: number }) => unknown>;

/** Solana's code for a node that has not reached a slot. */
const REFUSED = -32_016;

/** A node that says what its answers say, and what it was asked. */
async function startNode(answers: Answers) {
  const asked: [method: string, ...params: unknown[]][] = [];
  const node = await serveJsonRpc((method: string, params: [never?, object?] = []) => {
    asked.push([method, ...params]);
    const answer = answers[method];
    if (answer === undefined) throw new Error(`no ${method}`);
    return answer(params[0] as never, params[1] ?? {});
  }, REFUSED);
  nodes.push(node);
  return { url: node.url, asked, methods: () => asked.map(([method]) => method) };
}

/** A transaction that pays, as it is offered at NOW. */
async function payOnSolana() {
  const [feePayer, payer, mint, blockhash] = await Promise.all(
    Array.from({ length: 4 }, () => generateKeyPairSigner()),
  );
  if (!feePayer || !payer || !mint || !blockhash) throw new Error('there are four');
  const data = new Uint8Array(10);
  data[0] = 12;
  const accounts: (AccountMeta & { signer?: typeof payer })[] = [
    { address: payer.address, role: AccountRole.WRITABLE },
    { address: mint.address, role: AccountRole.READONLY },
    { address: payer.address, role: AccountRole.WRITABLE },
    { address: payer.address, role: AccountRole.READONLY_SIGNER, signer: payer },
  ];
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (one) => setTransactionMessageFeePayerSigner(feePayer, one),
    (one) =>
      setTransactionMessageLifetimeUsingBlockhash(
        { blockhash: blockhash.address as never, lastValidBlockHeight: 999n },
        one,
      ),
    (one) => appendTransactionMessageInstruction({ programAddress: TOKEN_PROGRAM, data, accounts }, one),
  );
  const transaction = await signTransactionMessageWithSigners(message);
  const wire = getBase64EncodedWireTransaction(transaction);
  const payment = { payload: { transaction: wire }, validUntil: NOW + 60_000 } as unknown as Payment;
  return { payment, wire, signature: getSignatureFromTransaction(transaction) };
}

const SLOT = 100;
const context = { slot: SLOT };

/** The account of the chain's clock, as of a time in seconds. */
function clockAt(seconds: number) {
  const data = Buffer.alloc(40);
  data.writeBigInt64LE(BigInt(seconds), 32);
  return { data: [data.toString('base64'), 'base64'], executable: false, lamports: 1, owner: '', space: 40 };
}

/** What a node of Solana answers that finds no payment, with the time of its final block in seconds. */
const onSolana = (seconds: number, isValid = false): Answers => ({
  getGenesisHash: () => GENESIS,
  getAccountInfo: () => ({ context, value: clockAt(seconds) }),
  isBlockhashValid: () => ({ context, value: isValid }),
  getSignaturesForAddress: () => [],
  getTransaction: () => null,
});

const lookAt = (url: string, payment: Payment, named?: string[]) =>
  createSolanaChain({ ...DEVNET, rpcUrls: [url] }, logger).look(payment, search(named));

const OPEN = { kind: 'open', failed: [] };
const EXPIRED = { kind: 'void', reason: 'authorization_expired' };

describe('a payment on Solana', () => {
  it('is not over for a node that lags behind its blockhash, and its settlement is unclear', async () => {
    const { payment, signature } = await payOnSolana();
    for (const seconds of [SECONDS - 3600, SECONDS + 110]) {
      const { url } = await startNode(onSolana(seconds));
      expect(await lookAt(url, payment)).toEqual(OPEN);
      const chain = createSolanaChain({ ...DEVNET, rpcUrls: [url] }, logger);
      const facilitator = { settle: async () => ({ kind: 'settled' as const, transaction: signature }) };
      const dependencies = { facilitator: facilitator as never, chainOf: async () => chain, clock, logger };
      const { signal } = search();
      const calls = { named: [], unaccounted: false };
      expect(
        await settlePayment(dependencies as never, payment, { until: 1, since: NOW, calls, signal }),
      ).toEqual({ kind: 'unclear', reason: 'not_shown', calls: { named: [signature], unaccounted: false } });
    }
  });

  it('is over once the final block is later than its end, for nodes that have come as far', async () => {
    const { payment } = await payOnSolana();
    const late = SECONDS + 130;
    expect(await lookAt((await startNode(onSolana(late, true))).url, payment)).toEqual(OPEN);
    const { url, asked } = await startNode(onSolana(late));
    expect(await lookAt(url, payment)).toEqual(EXPIRED);
    const bounded = asked.filter(([method]) => /isBlockhashValid|getSignatures/.test(method));
    expect(bounded.map(([, , options]) => options)).toMatchObject(
      Array.from({ length: 4 }, () => ({ minContextSlot: SLOT })),
    );
    // Behind the same address a node that has not come as far, and says so.
    const lagging = (_: unknown, { minContextSlot = 0 }: { minContextSlot?: number }) => {
      if (minContextSlot >= SLOT) throw new Error('Minimum context slot has not been reached');
      return [];
    };
    const mixed = await startNode({ ...onSolana(late), getSignaturesForAddress: lagging });
    await expect(lookAt(mixed.url, payment)).rejects.toThrow('Minimum context slot');
  });

  it('is not judged by a node that keeps back a transaction that it lists, or how it ended', async () => {
    const { payment, wire, signature } = await payOnSolana();
    const listed = { signature, slot: 1, blockTime: SECONDS, err: { InstructionError: [0, 'Custom'] } };
    const lists: Answers = {
      ...onSolana(SECONDS + 130),
      getSignaturesForAddress: () => [{ ...listed, memo: null, confirmationStatus: 'finalized' }],
    };
    const without = await startNode(lists);
    await expect(lookAt(without.url, payment)).rejects.toThrow('does not give a transaction');
    const stored = { slot: 1, blockTime: SECONDS, transaction: [wire, 'base64'], version: 0 };
    const silent = await startNode({ ...lists, getTransaction: () => ({ ...stored, meta: null }) });
    for (const named of [[], [signature]])
      await expect(lookAt(silent.url, payment, named)).rejects.toThrow('has failed');
    // One that a reply has named may be on its way, or never have been sent.
    const none = await startNode(onSolana(SECONDS));
    expect(await lookAt(none.url, payment, [signature])).toEqual(OPEN);
  });
});

const ADDRESS = `0x${'11'.repeat(20)}`;
const evmPayment = (asset: string, validBefore: number) =>
  ({
    payload: {
      signature: '0x00',
      authorization: {
        ...{ from: ADDRESS, to: ADDRESS, value: '1', validAfter: '0' },
        validBefore: String(validBefore),
        nonce: `0x${'00'.repeat(32)}`,
      },
    },
    requirement: { ...BASE, asset, payTo: ADDRESS, amount: '1' },
    validUntil: validBefore * 1000,
  }) as unknown as Payment;

const hex = (number: number) => `0x${number.toString(16)}`;
/** What a node of an EVM chain answers that finds no payment, with the time of its latest block in seconds. */
const onEvm = (seconds: number, chainId = 84_532): Answers => ({
  eth_chainId: () => hex(chainId),
  eth_getBlockByNumber: () => ({ number: hex(SLOT), timestamp: hex(seconds), transactions: [] }),
  eth_call: () => `0x${'00'.repeat(32)}`,
});

describe('a payment on an EVM chain', () => {
  it('is judged by the state of the block whose time tells that it is over', async () => {
    const payment = evmPayment(BASE.asset, SECONDS);
    const { url, asked } = await startNode(onEvm(SECONDS + 100));
    const lookAtEvm = (rpcUrl: string) =>
      createEvmChain({ ...BASE, rpcUrls: [rpcUrl] }, logger).look(payment, search());
    expect(await lookAtEvm(url)).toEqual(EXPIRED);
    expect(asked.find(([method]) => method === 'eth_call')?.[2]).toBe(hex(SLOT));
    // Behind the same address a node that lags.
    const lagging = (_: unknown, block: unknown) => {
      if (block !== 'latest') throw new Error('header not found');
      return `0x${'00'.repeat(32)}`;
    };
    const mixed = await startNode({ ...onEvm(SECONDS + 100), eth_call: lagging });
    await expect(lookAtEvm(mixed.url)).rejects.toThrow('RPC Request failed');
  });
});

describe('a node of another network', () => {
  it.each([
    {
      family: 'EVM chains',
      asset: BASE,
      own: onEvm(SECONDS),
      foreign: onEvm(SECONDS + 1000, 1),
      is: 'eip155:1',
      asks: 'eth_chainId',
    },
    {
      family: 'Solana',
      asset: DEVNET,
      own: onSolana(SECONDS),
      foreign: { ...onSolana(SECONDS + 1000), getGenesisHash: () => '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' },
      is: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
      asks: 'getGenesisHash',
    },
  ])('judges no payment on $family', async ({ asset, own, foreign, is, asks }) => {
    const payment = asset === DEVNET ? (await payOnSolana()).payment : evmPayment(asset.asset, SECONDS);
    const create = asset === DEVNET ? createSolanaChain : createEvmChain;
    const answers = { ...foreign };
    const node = await startNode(answers);
    const chain = create({ ...asset, rpcUrls: [node.url] }, logger);
    const message = `rpcUrls[0] of ${asset.network} in PAYMENTS_FILE is a node of ${is}: give one of ${asset.caip2}`;
    for (let count = 0; count < 2; count += 1)
      await expect(chain.look(payment, search())).rejects.toThrow(message);
    expect(new Set(node.methods())).toEqual(new Set([asks]));
    expect(errors.mock.calls).toMatchObject([[{ err: { message } }, expect.any(String)]]);

    // Another node takes its place behind the address, and it is asked which it is once.
    Object.assign(answers, own);
    node.asked.length = 0;
    for (let count = 0; count < 2; count += 1) expect(await chain.look(payment, search())).toEqual(OPEN);
    expect(node.methods().filter((method) => method === asks)).toHaveLength(1);

    // The next node of the list is asked in its place.
    const rpcUrls = [(await startNode(foreign)).url, node.url];
    expect(await create({ ...asset, rpcUrls }, logger).look(payment, search())).toEqual(OPEN);
  });
});

describe('the chain of a payment', () => {
  const payment = evmPayment(BASE.asset, SECONDS);
  const partiesFor = (accepts: PaymentAsset[]) =>
    networkParties({ ...TEST_NETWORKS, accepts }, { ...clock, now: () => NOW } as never, logger);

  it('is that of its own asset, where two of a network have other nodes', async () => {
    const { url } = await startNode(onEvm(SECONDS));
    const other = { ...BASE, asset: ADDRESS, rpcUrls: [] };
    const asked = { ...BASE, rpcUrls: [url] };
    for (const accepts of [
      [asked, other],
      [other, asked],
    ]) {
      const { chainOf } = partiesFor(accepts);
      for (const asset of accepts) {
        const kind = asset === asked ? 'open' : 'unseen';
        expect(await (await chainOf(asset)).look(payment, search())).toMatchObject({ kind });
      }
    }
  });

  it('is found whatever the case of the letters in an EVM address, and on Solana in its own case alone', async () => {
    const { chainOf } = partiesFor([BASE, DEVNET]);
    const lower = ({ network, asset }: PaymentAsset) => ({ network, asset: asset.toLowerCase() });
    await expect(chainOf(lower(BASE))).resolves.toBeDefined();
    await expect(chainOf(lower(DEVNET))).rejects.toThrow('list the asset in PAYMENTS_FILE until');
  });
});
