import { expect, it } from 'vitest';
import { parseSignUpQuotas, signInText } from './sign-in-text.js';

const asked = {
  domain: 'orrery.example',
  uri: 'https://orrery.example/',
  wallet: 'W',
  nonce: 'n',
  issuedAt: new Date('2026-11-23T09:00:00Z'),
  expiresAt: new Date('2026-11-23T09:05:00Z'),
};

it('says in one line what the wallet signs for', () => {
  const lines = (key: Parameters<typeof signInText>[0]['key']) => signInText({ ...asked, key }).split('\n');
  expect(lines(null)).toHaveLength(10);
  expect(lines(null)[3]).toBe('Sign in to Orrery. This costs nothing and moves nothing.');
  const key = { name: 'a "b"', scopes: ['read' as const], expiresAt: null };
  expect(lines(key)[3]).toBe(
    'Create the API key "a \\"b\\"" for Orrery, with the scopes read, good until it is revoked. ' +
      'This costs nothing and moves nothing.',
  );
});

it('reads quotas, of which those that are not named keep their defaults', () => {
  expect(parseSignUpQuotas('worlds=3, aiUsdPerDay=0.5')).toEqual({
    worlds: 3,
    deployments: 20,
    aiUsdPerDay: 0.5,
    pushesPerDay: 0,
  });
  expect(parseSignUpQuotas('worlds=unlimited')).not.toHaveProperty('worlds');
  for (const text of ['', 'worlds', 'worlds=-1', 'worlds=1,worlds=1', 'events=1'])
    expect(parseSignUpQuotas(text)).toBeUndefined();
});
