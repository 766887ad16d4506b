import type { Scope } from '@orrery/contracts';

/** A key that a wallet signs for. */
export interface SignedKey {
  name: string;
  scopes: Scope[];
  /** RFC 3339; null for never. */
  expiresAt: string | null;
}

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

/** The text that a wallet shows and signs: CAIP-122 in the form that Solana wallets know. */
export const signInText = ({ domain, uri, wallet, nonce, issuedAt, expiresAt, key }: SignInText): string =>
  [
    `${domain} wants you to sign in with your Solana account:`,
    wallet,
    '',
    `${statementOf(key)} This costs nothing and moves nothing.`,
    '',
    `URI: ${uri}`,
    'Version: 1',
    `Nonce: ${nonce}`,
    `Issued At: ${issuedAt.toISOString()}`,
    `Expiration Time: ${expiresAt.toISOString()}`,
  ].join('\n');

/** One line, as CAIP-122 wants it: names have no control characters. */
function statementOf(key: SignedKey | null): string {
  if (key === null) return 'Sign in to Orrery.';
  const end = key.expiresAt === null ? 'until it is revoked' : `until ${key.expiresAt}`;
  return `Create the API key ${JSON.stringify(key.name)} for Orrery, with the scopes ${key.scopes.join(', ')}, good ${end}.`;
}
