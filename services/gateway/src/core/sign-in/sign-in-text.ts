import { type AccountQuotas, evmAccountOf, type SignedKey, signInStatement } from '@orrery/contracts';

export interface SignInText {
  /** Host of this service as a browser shows it; from the configuration, never from a request's Host header. */
  domain: string;
  uri: string;
  wallet: string;
  nonce: string;
  issuedAt: Date;
  expiresAt: Date;
  /** The key that is signed for; null for a sign-in. */
  key: SignedKey | null;
}

/** The text that a wallet shows and signs: CAIP-122 in the form that Solana wallets know, EIP-4361 on EVM chains. */
export const signInText = ({ domain, uri, wallet, nonce, issuedAt, expiresAt, key }: SignInText): string => {
  const { address, chainId = 1 } = evmAccountOf(wallet) ?? {};
  return [
    `${domain} wants you to sign in with your ${address === undefined ? 'Solana' : 'Ethereum'} account:`,
    address ?? wallet,
    '',
    signInStatement(key),
    '',
    `URI: ${uri}`,
    'Version: 1',
    // EIP-4361 wants a chain: that of a contract account, and the first one for a key.
    ...(address === undefined ? [] : [`Chain ID: ${chainId}`]),
    `Nonce: ${nonce}`,
    `Issued At: ${issuedAt.toISOString()}`,
    `Expiration Time: ${expiresAt.toISOString()}`,
  ].join('\n');
};

/** What an account that signed up by itself may use up, unless the operator says otherwise: nothing that costs money. */
export const DEFAULT_SIGN_UP_QUOTAS: Required<AccountQuotas> = {
  worlds: 10,
  deployments: 20,
  aiUsdPerDay: 0,
  pushesPerDay: 0,
};

const isQuota = (name: string): name is keyof AccountQuotas => Object.hasOwn(DEFAULT_SIGN_UP_QUOTAS, name);

const WHOLE = /^\d{1,9}$/;
const DOLLARS = /^\d{1,9}(\.\d{1,6})?$/;

/** What `SIGN_UP_QUOTAS` has to look like. */
export const SIGN_UP_QUOTAS_FORM =
  'quotas such as worlds=10,deployments=20,aiUsdPerDay=0,pushesPerDay=0; `unlimited` in place of a number lifts one';

/**
 * Reads quotas separated by commas. One that is not named keeps its default, one that is `unlimited` is left out.
 * Undefined for a text that is no list of quotas, names one twice, or one that does not exist.
 */
export function parseSignUpQuotas(text: string): AccountQuotas | undefined {
  const quotas: AccountQuotas = { ...DEFAULT_SIGN_UP_QUOTAS };
  const seen = new Set<string>();
  for (const part of text.split(',')) {
    const [name = '', value = '', ...rest] = part.split('=').map((one) => one.trim());
    if (!isQuota(name) || seen.has(name) || rest.length > 0) return undefined;
    seen.add(name);
    if (value === 'unlimited') delete quotas[name];
    else if ((name === 'aiUsdPerDay' ? DOLLARS : WHOLE).test(value)) quotas[name] = Number(value);
    else return undefined;
  }
  return quotas;
}
