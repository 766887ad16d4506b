import { accountChanged } from '@orrery/contracts';
import bs58 from 'bs58';
import nacl from 'tweetnacl';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setAccountDisabled, setAccountQuotas } from '../src/accounts/index.js';
import { ask, startReplicas } from './support/started-gateway.js';

let system: Awaited<ReturnType<typeof startReplicas>>;
beforeAll(async () => {
  system = await startReplicas(2, {
    SIGN_UP: 'open',
    PUBLIC_URL: 'https://orrery.example',
    RATE_LIMITS: 'off',
  });
});
afterAll(() => system[Symbol.asyncDispose]());

const post = (path: string, body: object, replica = 0) =>
  ask(system.urls[replica] ?? '', 'POST', path, undefined, body);

function newWallet() {
  const pair = nacl.sign.keyPair();
  const wallet = bs58.encode(pair.publicKey);
  const sign = (message: string) => ({
    wallet,
    message,
    signature: bs58.encode(nacl.sign.detached(Buffer.from(message), pair.secretKey)),
  });
  const challenge = async () => (await post('/auth/challenge', { wallet })).body.data.message as string;
  return { wallet, sign, challenge };
}

describe('wallet sign-in', () => {
  it('gives an account and a token for a day', async () => {
    const { wallet, sign, challenge } = newWallet();
    const message = await challenge();
    expect(message).toMatch(/^orrery\.example wants you to sign in with your Solana account:\n/);
    expect(message).toContain(`\n${wallet}\n`);
    const answer = await post('/auth/token', sign(message));
    expect(answer.status).toBe(200);
    const { token, expiresAt, account } = answer.body.data;
    expect(Date.parse(expiresAt) - Date.now()).toBeGreaterThan(86_300_000);
    const me = await ask(system.urls[1] ?? '', 'GET', '/api/me', token);
    expect(me.body.data.account).toMatchObject({ id: account.id, wallet });
    const again = await post('/auth/token', sign(await challenge()));
    expect(again.body.data.account.id).toBe(account.id);
  });

  it('takes each challenge once, also when two replicas are asked at once', async () => {
    const { sign, challenge } = newWallet();
    const signed = sign(await challenge());
    const answers = await Promise.all([0, 1, 0, 1].map((replica) => post('/auth/token', signed, replica)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
  });

  it('makes one account of two first sign-ins at once', async () => {
    const { sign, challenge } = newWallet();
    const signed = [sign(await challenge()), sign(await challenge())];
    const answers = await Promise.all(signed.map((one, replica) => post('/auth/token', one, replica)));
    expect(new Set(answers.map(({ body }) => body.data.account.id)).size).toBe(1);
  });

  it('does not let another wallet use a challenge up', async () => {
    const { wallet, sign, challenge } = newWallet();
    const message = await challenge();
    const thief = newWallet();
    expect((await post('/auth/token', { ...thief.sign(message), wallet })).body.code).toBe(
      'invalid_signature',
    );
    expect((await post('/auth/token', thief.sign(message))).body.code).toBe('message_expired');
    expect((await post('/auth/token', sign(message))).status).toBe(200);
  });

  it.each([
    {},
    { wallet: 7 },
    { wallet: 'O0Il'.repeat(8) },
    { wallet: '1'.repeat(45) },
    { wallet: '1'.repeat(32), a: 1 },
  ])('refuses the challenge for %j', async (body) => {
    expect((await post('/auth/challenge', body)).body).toMatchObject({
      status: 400,
      code: 'validation_failed',
    });
  });

  it('refuses a text of its own making', async () => {
    const { sign } = newWallet();
    expect((await post('/auth/token', sign('let me in'))).body).toMatchObject({
      status: 401,
      code: 'message_expired',
    });
  });

  it('is refused to a disabled account, and closed unless the operator opens it', async () => {
    const { sign, challenge } = newWallet();
    const { account } = (await post('/auth/token', sign(await challenge()))).body.data;
    await setAccountDisabled(system.db, account.id, true);
    expect((await post('/auth/token', sign(await challenge()))).body).toMatchObject({
      status: 403,
      code: 'forbidden',
    });

    await using closed = await startReplicas(1);
    const answer = await ask(closed.urls[0] ?? '', 'POST', '/auth/challenge', undefined, {
      wallet: newWallet().wallet,
    });
    expect(answer.body).toMatchObject({ status: 403, code: 'sign_up_closed' });
  });
});

describe('changes of accounts', () => {
  it('reach the other services, in order', async () => {
    const heard: unknown[] = [];
    const stopping = new AbortController();
    await system.bus.consume(accountChanged, {
      consumer: 'test',
      signal: stopping.signal,
      handle: async (state) => {
        if (state.accountId === system.account.id) heard.push(state);
        return 'ack';
      },
    });
    await setAccountQuotas(system.db, system.account.id, { worlds: 3 });
    await setAccountDisabled(system.db, system.account.id, true);
    await setAccountDisabled(system.db, system.account.id, false);
    const accountId = system.account.id;
    await expect
      .poll(() => heard)
      .toEqual([
        { accountId, disabled: false, quotas: {}, revision: 1 },
        { accountId, disabled: false, quotas: { worlds: 3 }, revision: 2 },
        { accountId, disabled: true, quotas: { worlds: 3 }, revision: 3 },
        { accountId, disabled: false, quotas: { worlds: 3 }, revision: 4 },
      ]);
    stopping.abort();
  });
});
