import { z } from 'zod';
import { timestamp } from '../records/text.js';
import { operation } from '../rpc/operation.js';
import { accountRecord } from './accounts.js';

/** Base58 of an ed25519 public key; whether it is one is checked with the signature. */
export const walletAddress = z
  .string()
  .regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/, 'A base58 public key is required.')
  .meta({ id: 'Wallet', description: 'A wallet: base58 of the 32 bytes of an ed25519 public key.' });

/** Base58 of the 64 bytes of an ed25519 signature. */
export const walletSignature = z
  .string()
  .regex(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/, 'A base58 signature is required.')
  .meta({ id: 'WalletSignature', description: 'Base58 of the 64 bytes of an ed25519 signature.' });

const access = { scope: 'none', relation: 'public' } as const;
const tag = 'Sign-in';

const signedIn = z
  .strictObject({
    token: z.string().describe('The token of 68 characters, with all scopes; it cannot be shown again.'),
    keyId: z.string().describe('Id of its key.'),
    expiresAt: timestamp.describe('When it ends: after 24 hours.'),
    account: accountRecord.describe(
      'The account that is signed in; that of a wallet is made at its first sign-in.',
    ),
  })
  .meta({ id: 'SignedIn', description: 'A token for who has signed in.' });

/** Ways to a token: a wallet, where the operator has opened that, and a code for a person at the machine itself. */
export const signInRpcs = {
  'auth.challenge': operation({
    http: {
      method: 'POST',
      path: '/auth/challenge',
      bodyBytes: () => 1024,
      status: 200,
      tag,
      summary: 'Create a challenge for a wallet to sign',
    },
    access,
    errors: ['sign_up_closed'],
    body: z
      .strictObject({ wallet: walletAddress.describe('The wallet that will sign.') })
      .meta({ id: 'ChallengeRequest', description: 'Who wants to sign in.' }),
    data: z
      .strictObject({
        message: z.string().describe('The text to sign, by CAIP-122. It is good for one use.'),
        expiresAt: timestamp.describe('Until when it can be used: for five minutes.'),
      })
      .meta({ id: 'Challenge', description: 'A text for a wallet to sign.' }),
  }),
  'auth.token': operation({
    http: {
      method: 'POST',
      path: '/auth/token',
      bodyBytes: () => 4 * 1024,
      status: 200,
      tag,
      summary: 'Exchange a signed challenge for a token that is valid for 24 hours',
    },
    access,
    errors: ['sign_up_closed', 'invalid_signature', 'message_expired', 'forbidden'],
    body: z
      .strictObject({
        wallet: walletAddress.describe('The wallet that has signed.'),
        message: z.string().min(1).max(2048).describe('The text of the challenge, unchanged.'),
        signature: walletSignature.describe('Its signature over the UTF-8 bytes of `message`.'),
      })
      .meta({ id: 'TokenRequest', description: 'A signed challenge.' }),
    data: signedIn,
  }),
  'auth.code': operation({
    http: {
      method: 'POST',
      path: '/auth/code',
      bodyBytes: () => 1024,
      status: 200,
      tag,
      summary: 'Exchange a sign-in code for a token that is valid for 24 hours',
    },
    access,
    errors: ['sign_in_code_invalid', 'forbidden'],
    body: z
      .strictObject({
        code: z
          .string()
          .regex(/^[\w-]{43}$/, 'A code of 43 characters is required.')
          .describe('The code of the link. It is good for one use, for 60 seconds, on the machine itself.'),
      })
      .meta({ id: 'CodeRequest', description: 'A sign-in code.' }),
    data: signedIn,
  }),
  'auth.methods': operation({
    http: { method: 'GET', path: '/auth/methods', status: 200, tag, summary: 'Get the ways to sign in' },
    access,
    errors: [],
    data: z
      .strictObject({ wallet: z.boolean().describe('Whether a wallet that signs a challenge gets a token.') })
      .meta({ id: 'SignInMethods', description: 'Ways to sign in beside an API key.' }),
  }),
};
