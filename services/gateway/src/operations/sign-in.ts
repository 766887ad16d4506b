import { randomBytes } from 'node:crypto';
import {
  type AccountQuotas,
  type CreatedKey,
  type RequestOf,
  ServiceError,
  type SignedKey,
  type signInRpcs,
} from '@orrery/contracts';
import type { Clock } from '@orrery/service-kit';
import { expiryOf } from '../core/keys/key-token.js';
import type { IdentityHandlers } from '../core/requests/operation.js';
import { signInText } from '../core/sign-in/sign-in-text.js';
import { type AccountRow, accountRecordOf } from '../store/accounts/account-store.js';
import { exchangeSignInCode, signInWallet, storeChallenge } from '../store/sign-in/sign-in.js';
import type { Db } from '../store/tables/schema.js';
import type { SignedMessage, WalletVerifier } from '../wallets/verify-wallet.js';

/** How long a wallet has to sign. */
const CHALLENGE_MS = 5 * 60_000;

export interface SignInConfig {
  /** Whether anyone with a wallet may create an account. */
  readonly isOpen: boolean;
  /** The public address of this service; part of the signed text. */
  readonly publicUrl: string;
  /** What a new account may use up until the operator changes it. */
  readonly quotas: AccountQuotas;
}

export interface SignInContext {
  db: Db;
  clock: Clock;
  wallets: WalletVerifier;
  signIn: SignInConfig;
}

type ChallengeRequest = RequestOf<(typeof signInRpcs)['auth.challenge']>['body'];

type SignInHandlers = Pick<IdentityHandlers, Extract<keyof IdentityHandlers, `auth.${string}`>>;

export const signInHandlers = (context: SignInContext): SignInHandlers => ({
  'auth.challenge': async ({ body }) => {
    refuseWhenClosed(context.signIn);
    return { data: await challenge(context, body) };
  },
  'auth.token': async ({ body }, { signal }) => {
    refuseWhenClosed(context.signIn);
    return { data: signedIn(await verifiedSignIn(context, body, signal)) };
  },
  'auth.code': async ({ body }, { isFromHere }) => {
    if (isFromHere?.() !== true)
      throw new ServiceError(
        'forbidden',
        'A sign-in code works only in a browser on the machine that printed it. Sign in with an API key.',
      );
    return { data: signedIn(await exchangeSignInCode(context.db, body.code, new Date(context.clock.now()))) };
  },
  'auth.methods': async () => ({ data: { wallet: context.signIn.isOpen } }),
});

const signedIn = ({ account, key }: { account: AccountRow; key: CreatedKey }) => ({
  token: key.token,
  keyId: key.id,
  scopes: key.scopes,
  expiresAt: key.expiresAt,
  account: accountRecordOf(account),
});

/** The signature comes first, so that only the wallet's owner can use up its challenge. */
async function verifiedSignIn(
  { db, clock, wallets, signIn }: SignInContext,
  signed: SignedMessage,
  signal: AbortSignal,
) {
  const signer = await wallets.verify(signed, signal);
  return await signInWallet(db, signed, { signer, now: new Date(clock.now()), quotas: signIn.quotas });
}

async function challenge({ db, clock, signIn }: SignInContext, { wallet, ...asked }: ChallengeRequest) {
  const key = signedKeyOf(asked, clock.now());
  const issuedAt = new Date(clock.now());
  const expiresAt = new Date(issuedAt.getTime() + CHALLENGE_MS);
  const { host: domain, href: uri } = new URL(signIn.publicUrl);
  const nonce = randomBytes(16).toString('hex');
  const message = signInText({ domain, uri, wallet, nonce, issuedAt, expiresAt, key });
  await storeChallenge(db, { wallet, message, expiresAt, key });
  return { message, expiresAt: expiresAt.toISOString() };
}

/** The key that is asked for; null for a sign-in. @throws ServiceError `validation_failed` for an expiry that has passed. */
function signedKeyOf(
  { purpose, name = 'wallet key', scopes = [], expiresAt }: Omit<ChallengeRequest, 'wallet'>,
  now: number,
): SignedKey | null {
  if (purpose !== 'key') return null;
  return { name, scopes, expiresAt: expiryOf(expiresAt, now)?.toISOString() ?? null };
}

function refuseWhenClosed({ isOpen }: SignInConfig): void {
  if (!isOpen)
    throw new ServiceError(
      'sign_up_closed',
      'Accounts are created by the operator. Ask the operator for an API key.',
    );
}
