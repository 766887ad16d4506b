import { type EthereumProvider, type EvmWallet, injectedWallet, type SigningWallet } from '@orrery/sdk';

/** Who plays: how a wallet signs, and what may be said of it. */
export interface PlayerWallet {
  readonly kind: 'made' | 'ethereum' | 'solana';
  readonly address: string;
  readonly by: SigningWallet | EvmWallet;
}

/** What wallets of Solana put into a page. */
interface SolanaProvider {
  connect(): Promise<{ publicKey?: { toString(): string } } | undefined>;
  readonly publicKey?: { toString(): string } | null;
  signMessage(message: Uint8Array, display?: string): Promise<{ signature: Uint8Array } | Uint8Array>;
}

interface Injected {
  readonly ethereum?: EthereumProvider;
  readonly solana?: SolanaProvider;
}

/** What extensions of the browser have put into the page: it may come a moment later than the page. */
export const injected = (): Injected => globalThis as unknown as Injected;

/** @throws the wallet's error, such as that its owner refused */
export async function connectEthereum(): Promise<PlayerWallet> {
  const { ethereum } = injected();
  if (ethereum === undefined) throw new Error('This browser has no Ethereum wallet.');
  const by = await injectedWallet(ethereum);
  return { kind: 'ethereum', address: by.address, by };
}

/** @throws the wallet's error, such as that its owner refused */
export async function connectSolana(): Promise<PlayerWallet> {
  const { solana } = injected();
  if (solana === undefined) throw new Error('This browser has no Solana wallet.');
  const connected = await solana.connect();
  const address = String(connected?.publicKey ?? solana.publicKey ?? '');
  if (address === '') throw new Error('The wallet shows no account: unlock it, and choose one there.');
  const sign = async (message: Uint8Array) => {
    const signed = await solana.signMessage(message, 'utf8');
    return signed instanceof Uint8Array ? signed : signed.signature;
  };
  return { kind: 'solana', address, by: { publicKey: address, sign } };
}

/** No wallet takes what is asked for. */
export class CannotPay extends Error {
  override readonly name = 'CannotPay';
}

/** The words of a wallet's error, which may be anything. */
export function wordsOf(error: unknown): string {
  const { code, message } = (typeof error === 'object' && error !== null ? error : {}) as {
    code?: unknown;
    message?: unknown;
  };
  // EIP-1193: its owner said no.
  if (code === 4001) return 'You have refused in your wallet. Nothing was done.';
  return typeof message === 'string' && message !== '' ? message : 'The wallet did not say what is wrong.';
}
