import type { Scope } from '@orrery/contracts';
import { StartupError } from '@orrery/service-kit';
import { askFor, operationNamed } from '../operations/perform-operation.js';
import { isThisMachine, type ServerOptions, urlForWallet } from '../server/find-server.js';
import type { CommandContext } from '../terminal/context.js';
import { readWalletFile, signatureOf } from '../wallets/wallet-file.js';
import { type AskedKey, domainIn } from './sign-in-text.js';

interface SignOptions extends ServerOptions, Omit<AskedKey, 'wallet'> {
  /** Do not ask. */
  readonly yes?: true;
}

interface SignedIn {
  readonly token: string;
  readonly keyId: string;
  readonly scopes: readonly Scope[];
  readonly account: { readonly id: number };
}

/** Has a wallet sign for a key of its account, and shows the key. @throws StartupError, Refusal */
export async function signForKey(
  file: string,
  { name, scopes, expiresAt, yes, ...options }: SignOptions,
  context: CommandContext,
): Promise<void> {
  const signer = await readWalletFile(file);
  const { address: wallet } = signer;
  const server = { url: await urlForWallet(options, context), key: '' };
  const key = { wallet, name, scopes, ...(expiresAt !== undefined && { expiresAt }) };
  const challenge = await askFor(
    operationNamed('auth.challenge'),
    { body: { ...key, purpose: 'key' } },
    server,
  );
  const message = String((challenge.data as { message?: unknown }).message);
  const domain = domainOf(message, key, server.url);
  if (yes !== true && !isHostOf(server.url, domain) && !(await isMeant(domain, server.url, context))) return;
  const signature = await signatureOf(signer, message);
  const answer = await askFor(operationNamed('auth.token'), { body: { wallet, message, signature } }, server);
  const made = answer.data as SignedIn;
  context.write(`account ${made.account.id}, key ${made.keyId}, scopes ${made.scopes.join(',')}`);
  context.write(made.token);
}

/** Characters of a foreign text that are shown. */
const MOST_SHOWN = 500;

/** @throws StartupError for a text that is not the one for this key */
function domainOf(message: string, key: AskedKey, url: string): string {
  const domain = domainIn(message, key);
  if (domain !== undefined) return domain;
  throw new StartupError(
    `${url} asks the wallet for another text than that for this key, so nothing was signed. Look at the address; a server of another release takes its own release of this command. The text was:\n${message.slice(0, MOST_SHOWN)}`,
  );
}

/** Another Orrery would take the signature, too, if the text names that one. All names of this machine are the same. */
function isHostOf(url: string, domain: string): boolean {
  const own = new URL(url);
  if (own.host === domain) return true;
  const named = new URL(`${own.protocol}//${domain}`);
  return isThisMachine(own.href) && isThisMachine(named.href) && own.port === named.port;
}

/** @throws StartupError where nobody can be asked */
async function isMeant(domain: string, url: string, { confirm, note }: CommandContext): Promise<boolean> {
  const says = `The text to sign is one of ${domain}, and the server was asked at ${url}`;
  const isYes = await confirm(`${says}. Is that the same Orrery, and shall the wallet sign?`).catch(
    (cause: unknown) => {
      if (!(cause instanceof StartupError)) throw cause;
      throw new StartupError(`${says}: ask at ${domain}, or pass --yes if both are the same Orrery.`, {
        cause,
      });
    },
  );
  if (!isYes) note('Nothing was signed.');
  return isYes;
}
