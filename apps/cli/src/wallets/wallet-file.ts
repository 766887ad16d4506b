import { createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { StartupError } from '@orrery/service-kit';
import bs58 from 'bs58';
import type { Command } from 'commander';
import { readGivenFile } from '../documents/read-document.js';
import type { CommandContext } from '../terminal/context.js';

/** A key that signs public executions and sign-ins: ed25519, as Solana's tools keep it, or that of an account on EVM chains. */
export type Wallet = SolanaWallet | EvmKey;

interface SolanaWallet {
  readonly family: 'solana';
  /** Base58 of the public key. */
  readonly address: string;
  /** The seed, then the public key: 64 bytes, as Solana's tools keep them. */
  readonly secretKey: Uint8Array;
  /** The signature over bytes: 64 bytes. */
  readonly sign: (message: Uint8Array) => Uint8Array;
}

export interface EvmKey {
  readonly family: 'evm';
  /** In the spelling of EIP-55. */
  readonly address: string;
  /** `0x` and 64 hex digits. */
  readonly key: `0x${string}`;
  /** By EIP-191. */
  readonly signMessage: (text: { readonly message: string }) => Promise<string>;
}

/** The signature of a wallet over a text, as the service takes it. */
export const signatureOf = async (wallet: Wallet, message: string): Promise<string> =>
  wallet.family === 'evm' ? wallet.signMessage({ message }) : bs58.encode(wallet.sign(Buffer.from(message)));

const PRIVATE_KEY = /^0x[0-9a-fA-F]{64}$/;

/** Undefined for what is no private key of EVM chains. viem is loaded here, so that no other command waits for it. */
export async function readEvmKey(text: string): Promise<EvmKey | undefined> {
  return PRIVATE_KEY.test(text.trim()) ? evmKeyOf(text.trim() as `0x${string}`) : undefined;
}

async function evmKeyOf(key: `0x${string}`): Promise<EvmKey> {
  const { privateKeyToAccount } = await import('viem/accounts');
  const { address, signMessage } = privateKeyToAccount(key);
  return { family: 'evm', address, key, signMessage };
}

/** Creates a wallet and stores it, readable by its owner alone: a JSON list of 64 bytes, or a private key. @throws StartupError */
export async function createWalletFile(path: string, { evm = false } = {}): Promise<Wallet> {
  const wallet = evm ? await newEvmKey() : walletOf(generateKeyPairSync('ed25519').privateKey);
  const content = wallet.family === 'evm' ? wallet.key : JSON.stringify([...wallet.secretKey]);
  await writeFile(path, `${content}\n`, { mode: 0o600, flag: 'wx' }).catch((cause: NodeJS.ErrnoException) => {
    const reason = cause.code === 'EEXIST' ? 'It exists already.' : cause.message;
    throw new StartupError(`${path} cannot be written: ${reason}`, { cause });
  });
  return wallet;
}

async function newEvmKey(): Promise<EvmKey> {
  const { generatePrivateKey } = await import('viem/accounts');
  return evmKeyOf(generatePrivateKey());
}

/** @throws StartupError when there is no such file, or it holds no wallet */
export async function readWalletFile(path: string): Promise<Wallet> {
  const content = await readGivenFile(path, `\`orrery wallets create ${path}\` makes a wallet.`);
  const evmKey = await readEvmKey(content);
  if (evmKey !== undefined) return evmKey;
  try {
    const secretKey = Uint8Array.from(JSON.parse(content) as number[]);
    const text = (half: Uint8Array) => Buffer.from(half).toString('base64url');
    const [d, x] = [text(secretKey.subarray(0, 32)), text(secretKey.subarray(32))];
    const key = { kty: 'OKP', crv: 'Ed25519', d, x };
    return walletOf(createPrivateKey({ key, format: 'jwk' }), secretKey);
  } catch (cause) {
    throw new StartupError(
      `${path} holds no wallet: a JSON list of 64 bytes is expected, as \`orrery wallets create\` writes it, or 0x and 64 hex digits.`,
      { cause },
    );
  }
}

/** @throws Error for a key whose halves do not belong together */
function walletOf(privateKey: KeyObject, given?: Uint8Array): SolanaWallet {
  const { d = '', x = '' } = privateKey.export({ format: 'jwk' });
  const secretKey = Buffer.concat([d, x].map((half) => Buffer.from(half, 'base64url')));
  if (given !== undefined && !secretKey.equals(given)) throw new Error('the halves do not fit');
  return {
    family: 'solana',
    address: bs58.encode(secretKey.subarray(32)),
    secretKey,
    sign: (message) => sign(null, message, privateKey),
  };
}

/** `orrery wallets create`: a key file for `orrery public execute`. */
export function addWalletsCommands(program: Command, { write }: CommandContext): void {
  program
    .command('wallets')
    .description('create wallets that sign public executions')
    .command('create <file>')
    .description('create a wallet, in the key file format of Solana’s tools')
    .option('--evm', 'one of EVM chains: a private key, 0x and 64 hex digits', false)
    .action(async (file: string, options: { evm: boolean }) =>
      write((await createWalletFile(file, options)).address),
    );
}
