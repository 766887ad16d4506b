import { accountChanged } from '@orrery/contracts';
import { startContractAccounts } from '@orrery/testing/payments';
import { startAnvil } from '@orrery/testing/servers';
import bs58 from 'bs58';
import nacl from 'tweetnacl';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { parseSiweMessage, validateSiweMessage } from 'viem/siwe';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setAccountDisabled, setAccountQuotas } from '../src/store/accounts/account-store.js';
import { ask, startReplicas } from './support/started-gateway.js';

const CHAIN = 84_532;
let anvil: Awaited<ReturnType<typeof startAnvil>>;
let system: Awaited<ReturnType<typeof startReplicas>>;
beforeAll(async () => {
  anvil = await startAnvil({ chainId: CHAIN });
  system = await startReplicas(2, {
    SIGN_UP: 'open',
    PUBLIC_URL: 'https://orrery.example',
    RATE_LIMITS: 'off',
    WALLET_NODES: `eip155:${CHAIN}=${anvil.url}`,
  });
});
afterAll(async () => {
  await system?.[Symbol.asyncDispose]();
  await anvil?.stop();
});

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
    expect(me.body.data.account).toMatchObject({
      id: account.id,
      wallet,
      quotas: { worlds: 10, deployments: 20, aiUsdPerDay: 0, pushesPerDay: 0 },
    });
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

  it('gives a token that makes none for longer than its day', async () => {
    const { sign, challenge } = newWallet();
    const { token, expiresAt } = (await post('/auth/token', sign(await challenge()))).body.data;
    const make = (body: object) =>
      ask(system.urls[0] ?? '', 'POST', '/api/keys', token, { name: 'k', scopes: ['read'], ...body });
    expect((await make({})).body.data.expiresAt).toBe(expiresAt);
    const longer = await make({ expiresAt: '2099-01-01T00:00:00Z' });
    expect([longer.status, longer.body.code]).toEqual([403, 'forbidden']);
    expect(longer.body.detail).toContain('"purpose": "key"');
  });

  it('signs for a key with the scopes and the end that the text names', async () => {
    const { wallet, sign } = newWallet();
    const asked = {
      wallet,
      purpose: 'key',
      name: 'watcher',
      scopes: ['read'],
      expiresAt: '2099-01-01T00:00:00Z',
    };
    const { message } = (await post('/auth/challenge', asked)).body.data;
    expect(message).toContain(
      '\nCreate the API key "watcher" for Orrery, with the scopes read, good until 2099-01-01T00:00:00.000Z. ',
    );
    const { status, body } = await post('/auth/token', sign(message), 1);
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ scopes: ['read'], expiresAt: '2099-01-01T00:00:00.000Z' });
    const me = await ask(system.urls[0] ?? '', 'GET', '/api/me', body.data.token);
    expect(me.body.data.key).toEqual({
      id: body.data.keyId,
      scopes: ['read'],
      expiresAt: '2099-01-01T00:00:00.000Z',
    });
    expect((await post('/auth/token', sign(message))).body.code).toBe('message_expired');
  });

  it('signs for a key for ever, which no other key made', async () => {
    const { wallet, sign } = newWallet();
    const asked = { wallet, purpose: 'key', scopes: ['keys', 'read'] };
    const { message } = (await post('/auth/challenge', asked)).body.data;
    expect(message).toContain('"wallet key"');
    const { token, keyId, expiresAt } = (await post('/auth/token', sign(message))).body.data;
    expect(expiresAt).toBeNull();
    const { data } = (await ask(system.urls[0] ?? '', 'GET', '/api/keys', token)).body;
    expect(data).toMatchObject([{ id: keyId, name: 'wallet key', madeBy: null, expiresAt: null }]);
  });

  it.each([
    [{ purpose: 'key' }, '/scopes'],
    [{ purpose: 'key', scopes: [] }, '/scopes'],
    [{ purpose: 'key', scopes: ['read'], expiresAt: '2020-01-01T00:00:00Z' }, '/expiresAt'],
    [{ purpose: 'key', scopes: ['read'], name: 'two\nlines' }, '/name'],
    [{ purpose: 'payment' }, '/purpose'],
    [{ scopes: ['read'] }, '/scopes'],
    [{ purpose: 'sign-in', expiresAt: '2099-01-01T00:00:00Z' }, '/expiresAt'],
  ])('refuses the challenge for a key of %j', async (asked, pointer) => {
    const { status, body } = await post('/auth/challenge', { wallet: newWallet().wallet, ...asked });
    expect(status).toBe(400);
    expect(body.errors[0].pointer).toBe(pointer);
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

describe('sign-in with accounts of EVM chains', () => {
  const account = privateKeyToAccount(generatePrivateKey());
  const challenged = async (wallet: string, more = {}) =>
    (await post('/auth/challenge', { wallet, ...more })).body.data.message as string;
  const signIn = (wallet: string, message: string, signature: string, replica = 0) =>
    post('/auth/token', { wallet, message, signature }, replica);

  it('asks for a text that EIP-4361 describes', async () => {
    const fields = { domain: 'orrery.example', address: account.address };
    const message = parseSiweMessage(await challenged(account.address.toLowerCase()));
    expect(message).toMatchObject({ ...fields, chainId: 1, version: '1', uri: 'https://orrery.example/' });
    expect(validateSiweMessage({ message, ...fields })).toBe(true);
    const named = parseSiweMessage(await challenged(`eip155:10:${account.address}`));
    expect(named).toMatchObject({ ...fields, chainId: 10 });
  });

  it('is one account for a key, in whichever way it is spelled', async () => {
    const ids = new Set();
    for (const wallet of [account.address, account.address.toLowerCase(), `eip155:10:${account.address}`]) {
      const message = await challenged(wallet);
      const { status, body } = await signIn(wallet, message, await account.signMessage({ message }), 1);
      expect([status, body.data.account.wallet]).toEqual([200, account.address]);
      ids.add(body.data.account.id);
    }
    expect(ids.size).toBe(1);
  });

  it('takes a challenge once, by the wallet that it was made for', async () => {
    const message = await challenged(account.address);
    const thief = privateKeyToAccount(generatePrivateKey());
    const stolen = await thief.signMessage({ message });
    expect((await signIn(account.address, message, stolen)).body.code).toBe('invalid_signature');
    expect((await signIn(thief.address, message, stolen)).body.code).toBe('message_expired');
    const signature = await account.signMessage({ message });
    expect((await signIn(account.address.toLowerCase(), message, signature)).status).toBe(200);
    expect((await signIn(account.address, message, signature)).body.code).toBe('message_expired');
  });

  it('signs for a key of the API', async () => {
    const asked = { purpose: 'key', scopes: ['read'], expiresAt: '2099-01-01T00:00:00Z' };
    const message = await challenged(account.address, asked);
    const { body } = await signIn(account.address, message, await account.signMessage({ message }));
    expect(body.data).toMatchObject({ scopes: ['read'], expiresAt: '2099-01-01T00:00:00.000Z' });
  });

  it('is open to contract accounts, deployed or not', async () => {
    const safe = await (await startContractAccounts(anvil.url)).create(generatePrivateKey());
    const wallet = `eip155:${CHAIN}:${safe.address}`;
    for (const next of [safe.deploy, async () => undefined]) {
      const message = await challenged(wallet);
      const { status, body } = await signIn(wallet, message, await safe.sign(message));
      expect([status, body.data.account.wallet]).toEqual([200, wallet]);
      await next();
    }
    const elsewhere = `eip155:10:${safe.address}`;
    const message = await challenged(elsewhere);
    expect((await signIn(elsewhere, message, await safe.sign(message))).body.code).toBe('unknown_chain');
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
