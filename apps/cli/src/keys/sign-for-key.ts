import type { Scope } from '@orrery/contracts';
import bs58 from 'bs58';
import type { CommandContext } from '../command-context.js';
import { askFor, operationNamed } from '../operations/perform-operation.js';
import { type ServerOptions, urlOf } from '../server/find-server.js';
import { readWalletFile } from '../wallets/wallet-file.js';

export interface SignedKeyOptions extends ServerOptions {
  /** The wallet's file. */
  readonly wallet: string;
  readonly name: string;
  readonly scopes: Scope[];
  /** RFC 3339; without it the key is good until it is revoked. */
  readonly expiresAt?: string;
}

interface SignedIn {
  readonly token: string;
  readonly keyId: string;
  readonly scopes: readonly Scope[];
  readonly account: { readonly id: number };
}

/** Has a wallet sign for a key of its account, and shows the key. @throws StartupError, Refusal */
export async function signForKey(
  { wallet: file, name, scopes, expiresAt, ...options }: SignedKeyOptions,
  context: CommandContext,
): Promise<void> {
  const { address: wallet, sign } = await readWalletFile(file);
  const server = { url: await urlOf(options, context), key: '' };
  const asked = { wallet, purpose: 'key', name, scopes, ...(expiresAt !== undefined && { expiresAt }) };
  const challenge = await askFor(operationNamed('auth.challenge'), { body: asked }, server);
  const { message } = challenge.data as { message: string };
  const signature = bs58.encode(sign(Buffer.from(message)));
  const answer = await askFor(operationNamed('auth.token'), { body: { wallet, message, signature } }, server);
  const key = answer.data as SignedIn;
  context.write(`account ${key.account.id}, key ${key.keyId}, scopes ${key.scopes.join(',')}`);
  context.write(key.token);
}
