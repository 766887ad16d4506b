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
  forgetWallet('another');
  expect((await keptWallet())?.address).toBe(wallet.address);
  forgetWallet(wallet.address);
  expect(await keptWallet()).toBeUndefined();
});

it('makes no second one, and takes over no other, where another tab keeps one', async () => {
  const first = await makeWallet();
  expect((await makeWallet()).address).toBe(first.address);
  const file = exportWallet(first.address);
  forgetWallet(first.address);
  const second = await makeWallet();
  await expect(importWallet(file)).rejects.toThrow('keeps another wallet');
  expect(() => exportWallet(first.address)).toThrow('does not keep this wallet');
  expect((await importWallet(exportWallet(second.address))).address).toBe(second.address);
});

it('exports a key file of 64 numbers, from which it can be had back', async () => {
  const wallet = await makeWallet();
  const file = exportWallet(wallet.address);
  expect(JSON.parse(file)).toHaveLength(64);
  expect(JSON.parse(file).slice(32)).toEqual([...(wallet.publicKey as Uint8Array)]);
  forgetWallet(wallet.address);
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
  const exported = async () => {
    const { address } = await makeWallet();
    const file = exportWallet(address);
    forgetWallet(address);
    return file;
  };
  const [one, two] = [await exported(), await exported()];
  const mixed = JSON.stringify([...JSON.parse(one).slice(0, 32), ...JSON.parse(two).slice(32)]);
  await expect(importWallet(mixed)).rejects.toThrow();
});

it('takes what it cannot read for no wallet', async () => {
  for (const text of ['{', '7', '{"d":1}']) {
    kept.set('orrery.play.wallet', text);
    expect(await keptWallet()).toBeUndefined();
  }
});
