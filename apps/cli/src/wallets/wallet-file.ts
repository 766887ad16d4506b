import { createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { StartupError } from '@orrery/service-kit';
import bs58 from 'bs58';
import type { Command } from 'commander';
import { readGivenFile } from '../documents/read-document.js';
import type { CommandContext } from '../terminal/context.js';

/** An ed25519 key pair that signs public executions. */
export interface Wallet {
  /** Base58 of the public key. */
  readonly address: string;
  /** The seed, then the public key: 64 bytes, as Solana's tools keep them. */
  readonly secretKey: Uint8Array;
  /** The signature over bytes: 64 bytes. */
  readonly sign: (message: Uint8Array) => Uint8Array;
}

/** Creates a wallet and stores it as a JSON list of 64 bytes, readable by its owner alone. @throws StartupError */
export async function createWalletFile(path: string): Promise<Wallet> {
  const wallet = walletOf(generateKeyPairSync('ed25519').privateKey);
  await writeFile(path, `${JSON.stringify([...wallet.secretKey])}\n`, { mode: 0o600, flag: 'wx' }).catch(
    (cause: NodeJS.ErrnoException) => {
      const reason = cause.code === 'EEXIST' ? 'It exists already.' : cause.message;
      throw new StartupError(`${path} cannot be written: ${reason}`, { cause });
    },
  );
  return wallet;
}

/** @throws StartupError when there is no such file, or it holds no wallet */
export async function readWalletFile(path: string): Promise<Wallet> {
  const content = await readGivenFile(path, `\`orrery wallets create ${path}\` makes a wallet.`);
  try {
    const secretKey = Uint8Array.from(JSON.parse(content) as number[]);
    const text = (half: Uint8Array) => Buffer.from(half).toString('base64url');
    const [d, x] = [text(secretKey.subarray(0, 32)), text(secretKey.subarray(32))];
    const key = { kty: 'OKP', crv: 'Ed25519', d, x };
    return walletOf(createPrivateKey({ key, format: 'jwk' }), secretKey);
  } catch (cause) {
    throw new StartupError(
      `${path} holds no wallet: a JSON list of 64 bytes is expected, as \`orrery wallets create\` writes it.`,
      { cause },
    );
  }
}

/** @throws Error for a key whose halves do not belong together */
function walletOf(privateKey: KeyObject, given?: Uint8Array): Wallet {
  const { d = '', x = '' } = privateKey.export({ format: 'jwk' });
  const secretKey = Buffer.concat([d, x].map((half) => Buffer.from(half, 'base64url')));
  if (given !== undefined && !secretKey.equals(given)) throw new Error('the halves do not fit');
  return {
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
    .action(async (file: string) => write((await createWalletFile(file)).address));
}
