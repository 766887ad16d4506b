import { holding } from '@orrery/service-kit';
import { PATIENT } from '@orrery/testing';
import type { System } from '@orrery/testing/system';
import bs58 from 'bs58';
import type { BrowserContext, BrowserContextOptions } from 'playwright-core';
import nacl from 'tweetnacl';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { type WatchedPage, watchPage } from '../console/console-house.js';
import { openContext, startBrowser } from '../external/browse.js';
import { startPaidHouse, startSolanaHouse } from '../public/paid-house.js';
import { SYSTEM_END_MS } from '../starting/start-system.js';

/** Extensions that put wallets into a page; their keys stay outside it. */
export interface Extensions {
  readonly ethereum?: Hex;
  readonly solana?: nacl.SignKeyPair;
}

export interface OpenOptions extends Pick<BrowserContextOptions, 'viewport' | 'colorScheme'> {
  readonly extensions?: Extensions;
  /** Before the page is opened. */
  readonly prepare?: (context: BrowserContext) => Promise<unknown>;
}

/** A system with a published deployment that takes payments, and a browser without anybody's key. */
export const startPlayHouse = () => startHouse(startPaidHouse);
/** The same where payments are on Solana. */
export const startSolanaPlayHouse = () => startHouse(startSolanaHouse);

const startHouse = <Paid extends AsyncDisposable & { readonly system: System }>(start: () => Promise<Paid>) =>
  holding(async (resources) => {
    const paid = await start();
    resources.use('system', paid, SYSTEM_END_MS);
    const browser = await startBrowser();
    resources.add('browser', () => browser.close());
    const { url } = paid.system;
    const open = async (path: string, options: OpenOptions = {}): Promise<WatchedPage> => {
      const { extensions = {}, prepare, ...rest } = options;
      const context = await openContext(browser, { viewport: { width: 1280, height: 860 }, ...rest });
      await addExtensions(context, extensions);
      await prepare?.(context);
      const watched = await watchPage(context, url);
      await watched.page.goto(`${url}/play/${path}`);
      return watched;
    };
    return { ...paid, open, browser };
  }, PATIENT);

export type PlayHouse = Awaited<ReturnType<typeof startPlayHouse>>;

async function addExtensions(context: BrowserContext, { ethereum, solana }: Extensions): Promise<void> {
  if (ethereum !== undefined) {
    const account = privateKeyToAccount(ethereum);
    await context.exposeBinding('askEthereum', (_source, { method, params = [] }) => {
      if (method === 'eth_requestAccounts') return [account.address];
      if (method === 'eth_chainId') return '0x14a34';
      if (method === 'personal_sign') return account.signMessage({ message: { raw: params[0] } });
      if (method !== 'eth_signTypedData_v4') throw new Error(`unknown method ${method}`);
      const { types, ...text } = JSON.parse(params[1]);
      const { EIP712Domain: _domain, ...others } = types;
      return account.signTypedData({ ...text, types: others });
    });
    await context.addInitScript('window.ethereum = { request: (call) => askEthereum(call) };');
  }
  if (solana !== undefined) {
    const sign = (bytes: number[]) => [...nacl.sign.detached(Uint8Array.from(bytes), solana.secretKey)];
    await context.exposeBinding('askSolana', (_source, bytes: number[]) => sign(bytes));
    const address = bs58.encode(solana.publicKey);
    await context.exposeBinding('askSolanaTransaction', (_source, wire: number[]) => signWire(wire, solana));
    await context.addInitScript(`window.solana = {
      connect: async () => ({ publicKey: { toString: () => '${address}' } }),
      signMessage: async (bytes) => ({ signature: new Uint8Array(await askSolana([...bytes])) }),
    };
    addEventListener('wallet-standard:app-ready', ({ detail }) => {
      const accounts = [{ address: '${address}', chains: ['solana:devnet'], features: [] }];
      const signTransaction = async ({ transaction }) => [
        { signedTransaction: new Uint8Array(await askSolanaTransaction([...transaction])) },
      ];
      detail.register({
        version: '1.0.0',
        name: 'Test',
        accounts,
        features: {
          'standard:connect': { connect: async () => ({ accounts }) },
          'solana:signTransaction': { signTransaction },
        },
      });
    });`);
  }
}

/** Puts the signature of a wallet into a transaction: signatures, then the message, whose keys say whose they are. */
function signWire(wire: number[], { publicKey, secretKey }: nacl.SignKeyPair): number[] {
  const [count = 0] = wire;
  const message = Uint8Array.from(wire.slice(1 + 64 * count));
  // Its version, three numbers, and how many keys there are.
  const keys = message.subarray(5);
  const isOurs = (at: number) =>
    bs58.encode(keys.subarray(32 * at, 32 * (at + 1))) === bs58.encode(publicKey);
  const at = Array.from({ length: count }, (_, index) => index).find(isOurs);
  if (at === undefined) throw new Error('the transaction asks for no signature of this wallet');
  return wire.toSpliced(1 + 64 * at, 64, ...nacl.sign.detached(message, secretKey));
}
