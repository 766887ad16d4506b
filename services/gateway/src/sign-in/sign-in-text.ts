export interface SignInText {
  /** Host of this service as a browser shows it; from the configuration, never from a request's Host header. */
  domain: string;
  uri: string;
  wallet: string;
  nonce: string;
  issuedAt: Date;
  expiresAt: Date;
}

/** The text that a wallet shows and signs: CAIP-122 in the form that Solana wallets know. */
export const signInText = ({ domain, uri, wallet, nonce, issuedAt, expiresAt }: SignInText): string =>
  [
    `${domain} wants you to sign in with your Solana account:`,
    wallet,
    '',
    'Sign in to Orrery. This costs nothing and moves nothing.',
    '',
    `URI: ${uri}`,
    'Version: 1',
    `Nonce: ${nonce}`,
    `Issued At: ${issuedAt.toISOString()}`,
    `Expiration Time: ${expiresAt.toISOString()}`,
  ].join('\n');
