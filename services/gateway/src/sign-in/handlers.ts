import { randomBytes } from 'node:crypto';
import { type CreatedKey, ServiceError } from '@orrery/contracts';
import type { Clock } from '@orrery/service-kit';
import type { Kysely } from 'kysely';
import { type AccountRow, accountRecordOf } from '../accounts/account-store.js';
import type { GatewaySchema } from '../database/schema.js';
import type { IdentityHandlers } from '../operations/operation.js';
import { storeChallenge } from './challenge-store.js';
import { exchangeSignInCode } from './sign-in-codes.js';
import { signInText } from './sign-in-text.js';
import { signInWallet } from './sign-in-wallet.js';

/** How long a wallet has to sign. */
const CHALLENGE_MS = 5 * 60_000;

export interface SignInConfig {
  /** Whether anyone with a wallet may create an account. */
  readonly isOpen: boolean;
  /** The public address of this service; part of the signed text. */
  readonly publicUrl: string;
}

export interface SignInContext {
  db: Kysely<GatewaySchema>;
  clock: Clock;
  signIn: SignInConfig;
}

type SignInHandlers = Pick<IdentityHandlers, Extract<keyof IdentityHandlers, `auth.${string}`>>;

export const signInHandlers = (context: SignInContext): SignInHandlers => ({
  'auth.challenge': async ({ body }) => {
    refuseWhenClosed(context.signIn);
    return { data: await challenge(context, body.wallet) };
  },
  'auth.token': async ({ body }) => {
    refuseWhenClosed(context.signIn);
    return { data: signedIn(await signInWallet(context.db, body, new Date(context.clock.now()))) };
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
  expiresAt: key.expiresAt ?? '',
  account: accountRecordOf(account),
});

async function challenge({ db, clock, signIn }: SignInContext, wallet: string) {
  const issuedAt = new Date(clock.now());
  const expiresAt = new Date(issuedAt.getTime() + CHALLENGE_MS);
  const { host: domain, href: uri } = new URL(signIn.publicUrl);
  const nonce = randomBytes(16).toString('hex');
  const message = signInText({ domain, uri, wallet, nonce, issuedAt, expiresAt });
  await storeChallenge(db, { wallet, message, expires_at: expiresAt });
  return { message, expiresAt: expiresAt.toISOString() };
}

function refuseWhenClosed({ isOpen }: SignInConfig): void {
  if (!isOpen)
    throw new ServiceError(
      'sign_up_closed',
      'Accounts are created by the operator. Ask the operator for an API key.',
    );
}
