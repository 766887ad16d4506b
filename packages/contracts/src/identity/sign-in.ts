import { z } from 'zod';
import { name, timestamp } from '../records/fields.js';
import { operationsAt } from '../rpc/operation.js';
import { type Scope, scope } from '../rpc/rpc.js';
import { accountRecord } from './accounts.js';
import { keyScopes } from './keys.js';
import { walletAddress, walletSignature } from './wallets.js';

const { read, write } = operationsAt('/auth', 'Sign-in', { access: { scope: 'none', relation: 'public' } });

const signedIn = z
  .strictObject({
    token: z.string().describe('The token of 68 characters; it cannot be shown again.'),
    keyId: z.string().describe('Id of its key.'),
    scopes: z.array(scope).max(4).describe('What it may do: all, or what a wallet has signed for.'),
    expiresAt: timestamp
      .nullable()
      .describe('When it ends: after 24 hours, or when a wallet has signed for. Null: never.'),
    account: accountRecord.describe(
      'The account that is signed in; that of a wallet is made at its first sign-in.',
    ),
  })
  .meta({ id: 'SignedIn', description: 'A token for who has signed in.' });

/** Ways to a token: a wallet, where the operator has opened that, and a code for a person at the machine itself. */
export const signInRpcs = {
  'auth.challenge': write(
    'POST',
    '/challenge',
    'Create a challenge for a wallet to sign, for a sign-in or for a key',
    {
      http: { bodyBytes: () => 4 * 1024 },
      errors: ['sign_up_closed'],
      body: z
        .strictObject({
          wallet: walletAddress.describe('The wallet that will sign.'),
          purpose: z
            .enum(['sign-in', 'key'])
            .optional()
            .describe(
              'What the signature is for. `sign-in`, the default: a token with all scopes for 24 hours. `key`: a key as `name`, `scopes` and `expiresAt` say.',
            ),
          name: name.optional().describe('Of a key: what it is for, for people. Absent: `wallet key`.'),
          scopes: keyScopes.optional().describe('Of a key, required: what it may do.'),
          expiresAt: z.iso
            .datetime({ offset: true })
            .optional()
            .describe('Of a key: when it ends, by RFC 3339. Absent: never.'),
        })
        .superRefine(({ purpose, ...key }, context) => {
          if (purpose === 'key' && key.scopes === undefined)
            context.addIssue({ code: 'custom', path: ['scopes'], message: 'A key needs scopes.' });
          for (const member of ['name', 'scopes', 'expiresAt'] as const)
            if (purpose !== 'key' && key[member] !== undefined)
              context.addIssue({
                code: 'custom',
                path: [member],
                message: 'Only a challenge with "purpose": "key" takes it.',
              });
        })
        .meta({ id: 'ChallengeRequest', description: 'Who wants to sign in, or to sign for a key.' }),
      data: z
        .strictObject({
          message: z
            .string()
            .describe(
              'The text to sign, by CAIP-122 (EIP-4361 for accounts on EVM chains). It is good for one use.',
            ),
          expiresAt: timestamp.describe('Until when it can be used: for five minutes.'),
        })
        .meta({ id: 'Challenge', description: 'A text for a wallet to sign.' }),
    },
  ),
  'auth.token': write('POST', '/token', 'Exchange a signed challenge for a token', {
    http: { bodyBytes: () => 12 * 1024 },
    errors: [
      'sign_up_closed',
      'invalid_signature',
      'unknown_chain',
      'message_expired',
      'forbidden',
      'limit_reached',
    ],
    body: z
      .strictObject({
        wallet: walletAddress.describe('The wallet that has signed.'),
        message: z.string().min(1).max(2048).describe('The text of the challenge, unchanged.'),
        signature: walletSignature.describe('Its signature over `message`.'),
      })
      .meta({ id: 'TokenRequest', description: 'A signed challenge.' }),
    data: signedIn,
  }),
  'auth.code': write('POST', '/code', 'Exchange a sign-in code for a token that is valid for 24 hours', {
    http: { bodyBytes: () => 1024 },
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
  'auth.methods': read('/methods', 'Get the ways to sign in', {
    data: z
      .strictObject({ wallet: z.boolean().describe('Whether a wallet that signs a challenge gets a token.') })
      .meta({ id: 'SignInMethods', description: 'Ways to sign in beside an API key.' }),
  }),
};

/** A key that a wallet signs for. */
export interface SignedKey {
  name: string;
  scopes: Scope[];
  /** RFC 3339; null for never. */
  expiresAt: string | null;
}

/**
 * What the text says that a wallet shows and signs: a sign-in without a key. A command compares it with what it has asked for, so
 * servers and commands of other releases would refuse another wording. One line, as CAIP-122 wants it: names have no control
 * characters.
 */
export function signInStatement(key: SignedKey | null): string {
  const what = key === null ? 'Sign in to Orrery.' : keyStatement(key);
  return `${what} This costs nothing and moves nothing.`;
}

function keyStatement({ name, scopes, expiresAt }: SignedKey): string {
  const end = expiresAt === null ? 'until it is revoked' : `until ${expiresAt}`;
  return `Create the API key ${JSON.stringify(name)} for Orrery, with the scopes ${scopes.join(', ')}, good ${end}.`;
}
