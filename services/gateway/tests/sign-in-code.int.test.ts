import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setAccountDisabled } from '../src/store/accounts/account-store.js';
import { createSignInCode } from '../src/store/sign-in/sign-in.js';
import { ask, startReplicas } from './support/started-gateway.js';

let system: Awaited<ReturnType<typeof startReplicas>>;
beforeAll(async () => {
  system = await startReplicas(2, { RATE_LIMITS: 'off' });
});
afterAll(() => system[Symbol.asyncDispose]());

const create = (ageMs = 0) => createSignInCode(system.db, system.account.id, new Date(Date.now() - ageMs));
const exchange = (code: string, replica = 0) =>
  ask(system.urls[replica] ?? '', 'POST', '/auth/code', undefined, { code });
const refused = { status: 401, code: 'sign_in_code_invalid' };

describe('a sign-in code', () => {
  it('gives a key of its account for a day', async () => {
    const { status, body } = await exchange(await create());
    expect([status, body.data.account.id]).toEqual([200, system.account.id]);
    expect(Date.parse(body.data.expiresAt) - Date.now()).toBeGreaterThan(86_300_000);
    const me = await ask(system.urls[1] ?? '', 'GET', '/api/me', body.data.token);
    expect(me.body.data).toMatchObject({ account: { id: system.account.id }, key: { id: body.data.keyId } });
  });

  it('is taken once, also when two replicas are asked at once', async () => {
    const code = await create();
    const answers = await Promise.all([0, 1, 0, 1].map((replica) => exchange(code, replica)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
    expect((await exchange(code)).body).toMatchObject(refused);
  });

  it('ends the oldest sign-in and what that made, where there are 20, and no key of another name', async () => {
    const { token: other } = system;
    const make = async (token: string, name: string) =>
      (await ask(system.urls[0] ?? '', 'POST', '/api/keys', token, { name, scopes: ['read'] })).body.data
        .token;
    const named = await make(other, 'console sign-in');
    const signIn = async () => (await exchange(await create())).body.data.token as string;
    const oldest = await signIn();
    const made = await make(oldest, 'made by the oldest');
    const second = await signIn();
    for (let more = 0; more < 19; more++) await signIn();
    const statusOf = async (token: string) =>
      (await ask(system.urls[1] ?? '', 'GET', '/api/me', token)).status;
    expect(await Promise.all([oldest, made, second, named, other].map(statusOf))).toEqual([
      401, 401, 200, 200, 200,
    ]);
  });

  it('is good for 60 seconds', async () => {
    expect((await exchange(await create(61_000))).body).toMatchObject(refused);
    expect((await exchange(await create(50_000))).status).toBe(200);
  });

  it('is stored as a hash, and deleted when it is over', async () => {
    const over = await create(61_000);
    const code = await create();
    const rows = await system.db.selectFrom('sign_in_codes').selectAll().execute();
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain(code);
    expect((await exchange(over)).body).toMatchObject(refused);
  });

  it('works through no proxy, and is not used up by the attempt', async () => {
    const code = await create();
    const init = { method: 'POST', body: JSON.stringify({ code }) };
    const headers = { 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.7' };
    const answer = await fetch(`${system.urls[0]}/auth/code`, { ...init, headers });
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([403, 'forbidden']);
    expect((await exchange(code)).status).toBe(200);
  });

  it.each([{}, { code: 'short' }, { code: 7 }])('has its form: %j', async (body) => {
    const answer = await ask(system.urls[0] ?? '', 'POST', '/auth/code', undefined, body);
    expect(answer.body).toMatchObject({ status: 400, code: 'validation_failed' });
  });

  it('is refused to a disabled account', async () => {
    const code = await create();
    await setAccountDisabled(system.db, system.account.id, true);
    expect((await exchange(code)).body).toMatchObject({ status: 403, code: 'forbidden' });
    await setAccountDisabled(system.db, system.account.id, false);
    expect((await exchange(code)).status).toBe(200);
  });
});

describe('the ways to sign in', () => {
  it('name the wallet where sign-up is open', async () => {
    const methods = async (url: string | undefined) =>
      (await ask(url ?? '', 'GET', '/auth/methods', undefined)).body.data;
    expect(await methods(system.urls[0])).toEqual({ wallet: false });
    await using open = await startReplicas(1, { SIGN_UP: 'open' });
    expect(await methods(open.urls[0])).toEqual({ wallet: true });
  });
});
