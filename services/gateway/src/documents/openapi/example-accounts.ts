import { at, times } from './example-entry.js';
import { LIMITS_EXAMPLE } from './example-limits.js';
import { PATH_EXAMPLES, wallet } from './examples.js';

const { id } = PATH_EXAMPLES;

const account = { id: 1, name: 'racing club', wallet: null, quotas: { worlds: 10 }, ...times };
const key = {
  id,
  name: 'scoreboard',
  scopes: ['read'],
  createdAt: at('33:00'),
  expiresAt: null,
  lastUsedAt: null,
  madeBy: null,
};
const token = `orrery_${id}${'a'.repeat(49)}`;
const cost = { calls: 24, inputTokens: 30_960, outputTokens: 2_880, usd: 0.0138 };

/** Records of accounts, their keys, their sign-in, their limits and what models cost them. */
export const ACCOUNT_EXAMPLES = {
  AiUsage: {
    from: '2026-11-21',
    to: '2026-11-21',
    totals: cost,
    days: [{ day: '2026-11-21', event: 'race-report', ...cost }],
  },
  Me: { account, key: { id, scopes: ['read', 'write', 'execute', 'keys'], expiresAt: null } },
  Key: key,
  CreatedKey: { ...key, token },
  Challenge: {
    message: [
      'orrery.example wants you to sign in with your Solana account:',
      wallet,
      '',
      'Create the API key "scoreboard" for Orrery, with the scopes read, good until it is revoked. This costs nothing and moves nothing.',
      '',
      'URI: https://orrery.example',
      'Version: 1',
      'Nonce: 5b1f0c6e9d7a4382',
      `Issued At: ${at('33:00')}`,
      `Expiration Time: ${at('38:00')}`,
    ].join('\n'),
    expiresAt: at('38:00'),
  },
  SignedIn: {
    token,
    keyId: id,
    scopes: ['read', 'write', 'execute', 'keys'],
    expiresAt: '2026-11-22T09:33:00.000Z',
    account,
  },
  SignInMethods: { wallet: true },
  Limits: LIMITS_EXAMPLE,
};
