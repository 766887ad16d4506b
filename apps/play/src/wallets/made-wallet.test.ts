import { afterAll, beforeEach, expect, it, vi } from 'vitest';
import { exportWallet, forgetWallet, importWallet, keptWallet, makeWallet } from './made-wallet.js';

const kept = new Map<string, string>();
beforeEach(() => {
  kept.clear();
  vi.stubGlobal('localStorage', {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => kept.set(name, value),
    removeItem: (name: string) => kept.delete(name),
  });
});
afterAll(() => vi.unstubAllGlobals());

const message = new TextEncoder().encode('orrery:0xab:cheer:1');

it('makes a wallet that signs, and keeps it', async () => {
  expect(await keptWallet()).toBeUndefined();
  const wallet = await makeWallet();
  const key = await crypto.subtle.importKey('raw', wallet.publicKey as BufferSource, 'Ed25519', false, [
    'verify',
  ]);
  const signature = await wallet.sign(message);
  expect(await crypto.subtle.verify('Ed25519', key, signature as BufferSource, message)).toBe(true);
  expect((await keptWallet())?.address).toBe(wallet.address);
  forgetWallet();
  expect(await keptWallet()).toBeUndefined();
});

it('exports a key file of 64 numbers, from which it can be had back', async () => {
  const wallet = await makeWallet();
  const file = exportWallet();
  expect(JSON.parse(file)).toHaveLength(64);
  expect(JSON.parse(file).slice(32)).toEqual([...(wallet.publicKey as Uint8Array)]);
  forgetWallet();
  expect((await importWallet(file)).address).toBe(wallet.address);
});

it.each(['', '{}', '[1,2]', JSON.stringify(Array(64).fill(256)), JSON.stringify(Array(64).fill('1'))])(
  'refuses what is no key file, and keeps what it has: %s',
  async (text) => {
    const { address } = await makeWallet();
    await expect(importWallet(text)).rejects.toThrow('64 numbers');
    expect((await keptWallet())?.address).toBe(address);
  },
);

it('refuses two halves that do not belong together', async () => {
  const [one, two] = [await makeWallet().then(exportWallet), await makeWallet().then(exportWallet)];
  const mixed = JSON.stringify([...JSON.parse(one).slice(0, 32), ...JSON.parse(two).slice(32)]);
  await expect(importWallet(mixed)).rejects.toThrow();
});

it('takes what it cannot read for no wallet', async () => {
  for (const text of ['{', '7', '{"d":1}']) {
    kept.set('orrery.play.wallet', text);
    expect(await keptWallet()).toBeUndefined();
  }
});
