import { createHash } from 'node:crypto';
import type { SigningChain } from '@orrery/chain-pusher/config';
import { openChain } from '@orrery/chain-pusher/operator';
import { canonicalJson } from '@orrery/contracts';
import { describe, expect, it, vi } from 'vitest';
import type { ChainPort } from '../src/core/chains/chain-port.js';
import { type Batch, batchDigest } from '../src/core/pushes/batch.js';
import { startEvm } from './evm-house.js';
import { chainOf } from './running-pusher.js';
import { startSolana } from './solana-house.js';

const { signal } = new AbortController();
const patiently = { interval: 20 };
const deployment = `0x${'5a'.repeat(20)}`;

const pushOf = (number: number, truncated = false) => {
  const text = canonicalJson({ v: 1, deployment, number, entryHash: 'e1'.repeat(32), result: { ok: true } });
  const digest = createHash('sha256').update(text).digest('hex');
  return { number, entryHash: 'e1'.repeat(32), digest, text: truncated ? null : text };
};
const batchOf = (from: number, to = from): Batch => ({
  deployment,
  pushes: Array.from({ length: to - from + 1 }, (_, at) => pushOf(from + at)),
});

async function signedBy(port: ChainPort, batch: Batch) {
  const view = await port.view(signal);
  const signed = await port.sign(batch, { nonce: view.nonce, view, replaced: [], gasFactor: 1 }, signal);
  if (signed === null) throw new Error('too expensive');
  return { signed, view };
}

interface Family {
  readonly chain: SigningChain;
  /** The same with other settings. */
  readonly configured: (settings: object) => SigningChain;
}

/** Slots so long that a busy machine sends a transaction before its blockhash is too old, in milliseconds. */
const LONG_SLOT_MS = 200;

const families: readonly [string, (slotMs?: number) => Promise<Family>][] = [
  [
    'EVM',
    async () => {
      const { chain } = await startEvm();
      return { chain, configured: (settings) => chainOf({ ...chain.chain, ...settings } as never) };
    },
  ],
  [
    'Solana',
    async (slotMs = LONG_SLOT_MS) => {
      const { chain } = await startSolana({ slotMs, lifetime: 40 });
      return {
        chain,
        configured: (settings) => chainOf({ ...chain.chain, ...settings } as never, chain.signerKey),
      };
    },
  ],
];

describe.each(families)('a chain of the family %s', (name, start) => {
  const other = name === 'EVM' ? 'eip155:1' : `solana:${'1'.repeat(32)}`;

  it('tells whether pushes can be sent', async () => {
    const { chain, configured } = await start();
    expect(await (await openChain(chain)).check(signal)).toEqual({
      reason: null,
      balance: expect.any(Number),
    });
    const strange = await openChain(configured({ caip2: other }));
    await expect(strange.check(signal)).rejects.toThrow(/^the RPC server is of the chain /);
    const away = await openChain(configured({ rpcUrls: ['http://127.0.0.1:9'] }));
    await expect(away.check(signal)).rejects.toThrow('no RPC server of the chain answers');
  });

  it('finds a transaction by the id that it had before it was sent, however often it was', async () => {
    const { chain } = await start();
    const port = await openChain(chain);
    const { signed } = await signedBy(port, batchOf(1));
    const before = await port.view(signal);
    expect(await port.find([signed], before, signal)).toEqual([]);
    expect(await port.send(signed, signal)).toEqual({ kind: 'sent' });
    const again = await port.send(signed, signal);
    expect(['sent', 'spent']).toContain(again.kind);
    await vi.waitFor(async () => {
      const [found] = await port.find([signed], await port.view(signal), signal);
      expect(found).toMatchObject({ id: signed.id, failure: null, block: expect.any(Number) });
      expect(found?.depth).not.toBe('included');
    }, patiently);
    expect(await port.lastNumber(deployment, signal)).toBe(1);
  });

  it('tells what it holds of a deployment', async () => {
    const { chain } = await start();
    const port = await openChain(chain);
    expect(await port.recorded(deployment, 0, signal)).toEqual([]);
    expect(await port.lastNumber(deployment, signal)).toBe(0);
    const batches = [batchOf(1), batchOf(2, 4), { deployment, pushes: [pushOf(5, true)] }];
    for (const [at, batch] of batches.entries()) {
      const { signed } = await signedBy(port, batch);
      await port.send(signed, signal);
      const last = batches[at]?.pushes.at(-1)?.number;
      await vi.waitFor(async () => expect(await port.lastNumber(deployment, signal)).toBe(last), patiently);
    }
    const recorded = await port.recorded(deployment, 1, signal);
    for (const { from, to, digest, transaction } of recorded) {
      expect(digest).toBe(batchDigest(batchOf(from, to).pushes.map((push) => push.digest)));
      expect(transaction).toEqual(expect.any(String));
    }
    const numbers = recorded.flatMap(({ from, to }) =>
      Array.from({ length: to - from + 1 }, (_, at) => from + at),
    );
    expect(numbers).toEqual([2, 3, 4, 5]);
    expect(await port.recorded(`0x${'77'.repeat(20)}`, 0, signal)).toEqual([]);
  });

  it('tells when a transaction that it does not have can never be included any more', async () => {
    const { chain } = await start(25);
    const port = await openChain(chain);
    const lost = await signedBy(port, batchOf(1));
    const { nonce } = lost.view;
    expect(port.isOver(lost.signed, nonce, lost.view)).toBe(false);
    await vi.waitFor(async () => {
      // On EVM another transaction takes its nonce, on Solana its blockhash becomes too old.
      if (name === 'EVM') {
        const { signed } = await signedBy(port, { ...batchOf(1), deployment: `0x${'77'.repeat(20)}` });
        await port.send(signed, signal);
      }
      const view = await port.view(signal);
      expect(await port.find([lost.signed], view, signal)).toEqual([]);
      expect(port.isOver(lost.signed, nonce, view)).toBe(true);
    }, patiently);
    // A server of Solana that checks nothing beforehand takes it, and nothing comes of it.
    expect((await port.send(lost.signed, signal)).kind).toBe(name === 'EVM' ? 'spent' : 'sent');
    expect(await port.find([lost.signed], await port.view(signal), signal)).toEqual([]);
  });
});
