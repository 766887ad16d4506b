import { createServer } from 'node:http';
import { ServiceError } from '@orrery/contracts';
import { createLogger, holding, systemClock } from '@orrery/service-kit';
import { PATIENT } from '@orrery/testing';
import { startContractAccounts } from '@orrery/testing/payments';
import { startAnvil } from '@orrery/testing/servers';
import bs58 from 'bs58';
import nacl from 'tweetnacl';
import { parseSignature, serializeSignature } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAskChain } from '../src/wallets/chain-nodes.js';
import {
  createWalletVerifier,
  type SignedMessage,
  type WalletVerifier,
} from '../src/wallets/verify-wallet.js';

const MESSAGE = 'orrery:0xabc:race:1763976600000';
const CHAIN = 84_532;
const N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const never = new AbortController().signal;

/** A chain with a node, and a server on which whatever a contract sends us to is seen. */
const start = () =>
  holding(async (resources) => {
    const anvil = await startAnvil({ chainId: CHAIN });
    resources.add('node', () => anvil.stop());
    const lured: string[] = [];
    const server = createServer((request, response) => {
      lured.push(request.url ?? '');
      response.end('{}');
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    resources.add('lure', () => void server.close());
    const { port } = server.address() as { port: number };
    const accounts = await startContractAccounts(anvil.url);
    return { anvil, accounts, lured, lure: `http://127.0.0.1:${port}/` };
  }, PATIENT);

const logged: string[] = [];
const logger = createLogger({ service: 'test', destination: { write: (line) => logged.push(line) } });
const verifierFor = (nodes: Record<number, string[]>): WalletVerifier =>
  createWalletVerifier(nodes, createAskChain(nodes, { clock: systemClock, logger }));

let chain: Awaited<ReturnType<typeof start>>;
let wallets: WalletVerifier;
beforeAll(async () => {
  chain = await start();
  wallets = verifierFor({ [CHAIN]: [chain.anvil.url] });
});
afterAll(() => chain?.[Symbol.asyncDispose]());

const verify = (signed: Partial<SignedMessage>, of = wallets, before?: () => Promise<void>) =>
  of.verify({ wallet: '', message: MESSAGE, signature: '0x', ...signed }, never, before);
const codeOf = (verified: Promise<string>) =>
  verified.then(
    (wallet) => wallet,
    (error: unknown) => (error as ServiceError).code ?? error,
  );
const account = privateKeyToAccount(generatePrivateKey());
const wallet = account.address;
const signs = (message = MESSAGE) => account.signMessage({ message });

describe('a key of EVM chains', () => {
  it('signs by EIP-191, as viem’s accounts do, in any script', async () => {
    for (const message of [MESSAGE, 'événement 🐎', 'x'.repeat(1024)])
      expect(await verify({ wallet, message, signature: await signs(message) })).toBe(wallet);
  });

  it('may write the last byte of its signature as 0 or 1', async () => {
    const signature = await signs();
    const last = Number.parseInt(signature.slice(-2), 16) - 27;
    expect(await verify({ wallet, signature: `${signature.slice(0, -2)}0${last}` })).toBe(wallet);
    expect(await codeOf(verify({ wallet, signature: `${signature.slice(0, -2)}1d` }))).toBe(
      'invalid_signature',
    );
  });

  it('is the same key where a chain is named, of which nobody is asked', async () => {
    const asked = () => Promise.reject(new Error('asked'));
    const named = `eip155:1:${wallet}`;
    expect(await verify({ wallet: named, signature: await signs() }, wallets, asked)).toBe(wallet);
  });

  it('is refused for another text, another address, and the other s, which others accept', async () => {
    const signature = await signs();
    const other = privateKeyToAccount(generatePrivateKey()).address;
    const { r, s, yParity } = parseSignature(signature);
    const high = `0x${(N - BigInt(s)).toString(16).padStart(64, '0')}` as const;
    const twin = serializeSignature({ r, s: high, yParity: yParity === 0 ? 1 : 0 });
    for (const signed of [
      { signature, message: `${MESSAGE} ` },
      { signature, wallet: other },
      { signature: twin },
      { signature: twin, wallet: `eip155:${CHAIN}:${wallet}` },
      { signature: `0x${'00'.repeat(65)}` },
      { signature: `0x${'ff'.repeat(65)}` },
    ])
      expect(await codeOf(verify({ wallet, ...signed }))).toBe('invalid_signature');
  });

  it('is refused by its shape without 65 bytes, or with those of another kind of wallet', async () => {
    const { publicKey, secretKey } = nacl.sign.keyPair();
    const solana = bs58.encode(publicKey);
    const signature = bs58.encode(nacl.sign.detached(Buffer.from(MESSAGE), secretKey));
    expect(await verify({ wallet: solana, signature })).toBe(solana);
    for (const signed of [
      { wallet, signature },
      { wallet: solana, signature: await signs() },
      { wallet, signature: (await signs()).slice(0, -2) },
      { wallet, signature: `${await signs()}00` },
    ])
      expect(await codeOf(verify(signed))).toBe('validation_failed');
  });
});

describe('a contract account', () => {
  const named = (address: string, chainId = CHAIN) => `eip155:${chainId}:${address}`;

  it('signs as its contract says, deployed (EIP-1271) or not yet (EIP-6492)', async () => {
    const safe = await chain.accounts.create(generatePrivateKey());
    const undeployed = await safe.sign(MESSAGE);
    expect(undeployed.length).toBeGreaterThan(132);
    expect(await verify({ wallet: named(safe.address), signature: undeployed })).toBe(named(safe.address));
    await safe.deploy();
    const deployed = await safe.sign(MESSAGE);
    expect(deployed).toHaveLength(132);
    for (const signature of [deployed, undeployed])
      expect(await verify({ wallet: named(safe.address), signature })).toBe(named(safe.address));
    const other = await chain.accounts.create(generatePrivateKey());
    for (const signed of [
      { signature: deployed, message: 'another' },
      { signature: undeployed, message: 'another' },
      { signature: await other.sign(MESSAGE) },
      { signature: `${undeployed.slice(0, 10)}${'ab'.repeat(2000)}` },
      { signature: '0x00' },
    ])
      expect(await codeOf(verify({ wallet: named(safe.address), ...signed }))).toBe('invalid_signature');
  });

  it('is no key, and none of another chain', async () => {
    const safe = await chain.accounts.create(generatePrivateKey());
    await safe.deploy();
    const signature = await safe.sign(MESSAGE);
    expect(await codeOf(verify({ wallet: safe.address, signature }))).toBe('invalid_signature');
    expect(await codeOf(verify({ wallet: named(safe.address, 1), signature }))).toBe('unknown_chain');
    await using elsewhere = await startAnvil({ chainId: 10 }).then((node) => ({
      url: node.url,
      [Symbol.asyncDispose]: () => node.stop(),
    }));
    const both = verifierFor({ [CHAIN]: [chain.anvil.url], 10: [elsewhere.url] });
    expect(await codeOf(verify({ wallet: named(safe.address, 10), signature }, both))).toBe(
      'invalid_signature',
    );
  });

  it('cannot send us anywhere, nor keep a node busy', async () => {
    const luring = await chain.accounts.hostile(chain.lure);
    const burning = await chain.accounts.hostile('');
    for (const address of [luring, burning])
      expect(await codeOf(verify({ wallet: named(address), signature: await signs() }))).toBe(
        'invalid_signature',
      );
    expect(chain.lured).toEqual([]);
  });

  it('is counted before its node is asked', async () => {
    const safe = await chain.accounts.create(generatePrivateKey());
    const signed = { wallet: named(safe.address), signature: await safe.sign(MESSAGE) };
    const refuse = () => Promise.reject(new ServiceError('rate_limited'));
    const away = verifierFor({ [CHAIN]: ['http://127.0.0.1:1'] });
    expect(await codeOf(verify(signed, away, refuse))).toBe('rate_limited');
  });

  it('is 503 while its node is away or is of another chain, and good once it is back', async () => {
    const safe = await chain.accounts.create(generatePrivateKey());
    const signed = { wallet: named(safe.address), signature: await safe.sign(MESSAGE) };
    const secret = 'http://127.0.0.1:1/key-of-the-operator';
    expect(await codeOf(verify(signed, verifierFor({ [CHAIN]: [secret] })))).toBe('unavailable');
    expect(logged.join('')).not.toContain('key-of-the-operator');
    const mistaken = verifierFor({ 1: [chain.anvil.url] });
    expect(await codeOf(verify({ ...signed, wallet: named(safe.address, 1) }, mistaken))).toBe('unavailable');

    let isAway = false;
    const proxy = createServer(async (request, response) => {
      if (isAway) return response.writeHead(500).end();
      const body = await new Response(request as never, {}).text();
      const headers = { 'content-type': 'application/json' };
      response.end(await (await fetch(chain.anvil.url, { method: 'POST', headers, body })).text());
    });
    await new Promise<void>((listening) => proxy.listen(0, '127.0.0.1', listening));
    const { port } = proxy.address() as { port: number };
    const flaky = verifierFor({ [CHAIN]: [`http://127.0.0.1:${port}`] });
    expect(await codeOf(verify(signed, flaky))).toBe(signed.wallet);
    isAway = true;
    expect(await codeOf(verify(signed, flaky))).toBe('unavailable');
    isAway = false;
    expect(await codeOf(verify(signed, flaky))).toBe(signed.wallet);
    const second = verifierFor({ [CHAIN]: ['http://127.0.0.1:1', `http://127.0.0.1:${port}`] });
    expect(await codeOf(verify(signed, second))).toBe(signed.wallet);
    proxy.close();
  });

  it('is verified for a bounded number of callers at once', async () => {
    const silent = createServer(() => undefined);
    await new Promise<void>((listening) => silent.listen(0, '127.0.0.1', listening));
    const { port } = silent.address() as { port: number };
    const slow = verifierFor({ [CHAIN]: [`http://127.0.0.1:${port}`] });
    const gone = new AbortController();
    const signed = { wallet: named(account.address), message: MESSAGE, signature: `0x${'01'.repeat(70)}` };
    const waiting = Array.from({ length: 16 }, () => codeOf(slow.verify(signed, gone.signal)));
    expect(await codeOf(slow.verify(signed, gone.signal))).toBe('overloaded');
    gone.abort(new ServiceError('deadline_exceeded'));
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['deadline_exceeded']));
    silent.closeAllConnections();
    silent.close();
  });
});
