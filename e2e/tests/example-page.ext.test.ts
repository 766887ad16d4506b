import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repositoryRoot } from '@orrery/testing/system';
import bs58 from 'bs58';
import nacl from 'tweetnacl';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { browse } from '../src/external/browse.js';
import { describeWithProgram } from '../src/external/describe-with-program.js';
import { startPaidHouse } from '../src/public/paid-house.js';
import { PRICE, RECEIVER } from '../src/worlds/toasts.js';

/** A browser that starts on a busy machine included. */
const PATIENCE_MS = 300_000;

/** Injected wallets have their keys elsewhere: these ask the origin of the page. */
const walletsOf = (address: string) => `<script>
  const ask = async (path, body) => (await fetch(path, { method: 'POST', body })).json();
  window.solana = {
    connect: async () => ({ publicKey: { toString: () => '${address}' } }),
    signMessage: async (bytes) => ({ signature: new Uint8Array(await ask('/sign', bytes)) }),
  };
  window.ethereum = { request: (request) => ask('/ethereum', JSON.stringify(request)) };
  window.confirm = () => true;
</script>`;

describeWithProgram('chromium', 'the example for browsers', () => {
  let house: Awaited<ReturnType<typeof startPaidHouse>>;
  beforeAll(async () => {
    house = await startPaidHouse();
  });
  afterAll(() => house?.[Symbol.asyncDispose]());

  async function submit(event: string, name: string, hasSolana = true) {
    const { publicKey, secretKey } = nacl.sign.keyPair();
    const wallet = bs58.encode(publicKey);
    const payer = privateKeyToAccount(await house.newPayer());
    const answers = {
      '/sign': (bytes: Buffer) => [...nacl.sign.detached(bytes, secretKey)],
      '/ethereum': (body: Buffer) => {
        const { method, params } = JSON.parse(body.toString());
        if (method === 'eth_requestAccounts') return [payer.address];
        if (method === 'personal_sign') return payer.signMessage({ message: { raw: params[0] } });
        const { EIP712Domain: _, ...types } = JSON.parse(params[1]).types;
        return payer.signTypedData({ ...JSON.parse(params[1]), types });
      },
    };
    const { system, world } = house;
    const fields = { server: system.url, deployment: world.address, event, input: JSON.stringify({ name }) };
    const script = `
      const form = document.querySelector('form');
      for (const [name, value] of Object.entries(${JSON.stringify(fields)})) form.elements[name].value = value;
      const pre = document.querySelector('pre');
      const shown = new Promise((resolve) => new MutationObserver(resolve).observe(pre, { childList: true }));
      form.requestSubmit();
      await shown;
      return JSON.parse(pre.textContent);`;
    const example = await readFile(join(repositoryRoot, 'examples/execute.html'), 'utf8');
    const page = `${walletsOf(wallet)}${hasSolana ? '' : '<script>delete window.solana;</script>'}${example}`;
    const told: unknown = await browse(script, PATIENCE_MS, { page, answers });
    return { wallet, payer: payer.address, told };
  }

  it('executes with an injected wallet', async () => {
    const { wallet, told } = await submit('enter', 'page');
    expect(told).toMatchObject({ success: true, data: { stateChanges: { 'guest:page': { by: wallet } } } });
    expect(await house.evm.balanceOf(RECEIVER)).toBe(0n);
  });

  it('executes with an injected wallet of EVM chains, where there is no other', async () => {
    const { payer, told } = await submit('enter', 'ethereum', false);
    expect(told).toMatchObject({ data: { stateChanges: { 'guest:ethereum': { by: payer } } } });
  });

  it('pays with an injected EVM wallet', async () => {
    const { told } = await submit('toast', 'payer');
    expect(told).toMatchObject({ success: true, data: { stateChanges: { 'guest:payer': { visits: 1 } } } });
    expect(await house.evm.balanceOf(RECEIVER)).toBe(PRICE);
  });

  it('shows why it was refused', async () => {
    const { told } = await submit('close', 'nobody');
    expect(told).toMatchObject({ success: false, code: 'event_not_public' });
  });
});
