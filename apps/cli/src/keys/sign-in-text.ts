import { evmAccountOf, type Scope, signInStatement, toNfc } from '@orrery/contracts';

/** The key for which a wallet is to sign. */
export interface AskedKey {
  readonly wallet: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Undefined: it does not end. */
  readonly expiresAt?: string | undefined;
}

const TIME = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`;

/**
 * The host that a challenge names (docs/gateway.md, wallet sign-in); undefined where its text is not the one for this key. A
 * server may send any text, also one that executes or moves something elsewhere once it is signed.
 */
export function domainIn(message: string, key: AskedKey): string | undefined {
  const lines = message.split('\n');
  const form = formOf(key);
  const fits = (wanted: string | RegExp, line = '') =>
    typeof wanted === 'string' ? line === wanted : wanted.test(line);
  if (lines.length !== form.length || !form.every((wanted, at) => fits(wanted, lines[at]))) return undefined;
  const [domain = ''] = message.split(' ', 1);
  const [, uri = ''] = /^URI: (.*)$/m.exec(message) ?? [];
  return URL.canParse(uri) && new URL(uri).host === domain ? domain : undefined;
}

/** Its lines: CAIP-122, EIP-4361 on EVM chains. */
function formOf({ wallet, name, scopes, expiresAt }: AskedKey): (string | RegExp)[] {
  const account = evmAccountOf(wallet);
  return [
    account === undefined ? SOLANA : ETHEREUM,
    account?.address ?? wallet,
    '',
    signInStatement({ name: toNfc(name), scopes: [...scopes], expiresAt: instantOf(expiresAt) }),
    '',
    /^URI: \S+$/,
    'Version: 1',
    ...(account === undefined ? [] : [`Chain ID: ${account.chainId ?? 1}`]),
    /^Nonce: [A-Za-z0-9]{8,}$/,
    new RegExp(`^Issued At: ${TIME}$`),
    new RegExp(`^Expiration Time: ${TIME}$`),
  ];
}

const SOLANA = /^\S+ wants you to sign in with your Solana account:$/;
const ETHEREUM = /^\S+ wants you to sign in with your Ethereum account:$/;

/** As the gateway writes it. What is no time it refuses. */
function instantOf(text: string | undefined): string | null {
  if (text === undefined) return null;
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? text : time.toISOString();
}
