import { createServer } from 'node:net';
import { StartupError } from '@orrery/service-kit';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseToken } from '../src/core/keys/key-token.js';
import { createAccountWithKey, MAX_KEYS } from '../src/store/keys/key-store.js';
import { ask, startReplicas } from './support/started-gateway.js';

let system: Awaited<ReturnType<typeof startReplicas>>;
beforeAll(async () => {
  system = await startReplicas(2);
});
afterAll(() => system[Symbol.asyncDispose]());

const one = (method: string, path: string, token = system.token, body?: unknown) =>
  ask(system.urls[0] ?? '', method, path, token, body);
const other = (method: string, path: string, token: string) => ask(system.urls[1] ?? '', method, path, token);
const create = async (body: object) => (await one('POST', '/api/keys', system.token, body)).body.data;

describe('keys', () => {
  it('say who they are', async () => {
    const { status, body } = await one('GET', '/api/me');
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      account: { id: system.account.id, name: 'tester', wallet: null, quotas: {} },
      key: {
        id: parseToken(system.token)?.keyId,
        scopes: ['read', 'write', 'execute', 'keys'],
        expiresAt: null,
      },
    });
  });

  it('are created with a token that is shown once and stored as a hash only', async () => {
    const answer = await one('POST', '/api/keys', system.token, { name: 'reader', scopes: ['read'] });
    expect(answer.status).toBe(201);
    const { id, token } = answer.body.data;
    expect(answer.headers.get('location')).toBe(`/api/keys/${id}`);
    expect((await one('GET', '/api/me', token)).body.data.key).toEqual({
      id,
      scopes: ['read'],
      expiresAt: null,
    });
    expect((await one('GET', '/api/keys', token)).body.code).toBe('forbidden');

    const listed = (await one('GET', '/api/keys')).body;
    expect(JSON.stringify(listed)).not.toContain(token);
    expect(listed.data.find((key: { id: string }) => key.id === id)).toMatchObject({
      name: 'reader',
      scopes: ['read'],
    });
    const { rows } = await sql<{ row: string }>`select keys::text as row from keys`.execute(system.db);
    expect(rows.map(({ row }) => row).join()).not.toContain(token.slice(20, 60));
  });

  it('cannot make stronger ones', async () => {
    const weak = await create({ name: 'k', scopes: ['keys'] });
    const answer = await one('POST', '/api/keys', weak.token, { name: 'x', scopes: ['keys', 'write'] });
    expect([answer.status, answer.body.code]).toEqual([403, 'forbidden']);
    const strong = parseToken(system.token)?.keyId ?? '';
    expect((await one('POST', `/api/keys/${strong}/rotate`, weak.token)).body.code).toBe('forbidden');
  });

  it('cannot make ones that are good for longer than they are themselves', async () => {
    const end = new Date(Date.now() + 3_600_000).toISOString();
    const hour = await create({ name: 'hour', scopes: ['read', 'keys'], expiresAt: end });
    const ask = (body: object) =>
      one('POST', '/api/keys', hour.token, { name: 'x', scopes: ['read'], ...body });
    const later = new Date(Date.now() + 7_200_000).toISOString();
    const refused = await ask({ expiresAt: later });
    expect([refused.status, refused.body.code]).toEqual([403, 'forbidden']);
    expect(refused.body.detail).toContain(end);
    expect((await ask({})).body.data).toMatchObject({ expiresAt: end, madeBy: hour.id });
    expect((await ask({ expiresAt: end })).status).toBe(201);
    const forEver = await create({ name: 'for ever', scopes: ['read'] });
    const path = `/api/keys/${forEver.id}/rotate`;
    expect((await one('POST', path, hour.token)).body.code).toBe('forbidden');
    expect((await one('POST', `/api/keys/${hour.id}/rotate`, hour.token)).status).toBe(201);
  });

  it.each([
    [{ scopes: ['read'] }, '/name'],
    [{ name: 'x', scopes: [] }, '/scopes'],
    [{ name: 'x', scopes: ['read', 'read'] }, '/scopes'],
    [{ name: 'x', scopes: ['admin'] }, '/scopes/0'],
    [{ name: 'x', scopes: ['read'], expiresAt: '2020-01-01T00:00:00Z' }, '/expiresAt'],
    [{ name: 'x', scopes: ['read'], expiresAt: 'soon' }, '/expiresAt'],
  ])('are refused when asked for as %j', async (body, pointer) => {
    const answer = await one('POST', '/api/keys', system.token, body);
    expect(answer.status).toBe(400);
    expect(answer.body.errors[0].pointer).toBe(pointer);
  });

  it('stop at every replica as soon as they are revoked', async () => {
    const { id, token } = await create({ name: 'gone', scopes: ['read'] });
    expect((await other('GET', '/api/me', token)).status).toBe(200);
    expect((await one('DELETE', `/api/keys/${id}`)).body).toEqual({ success: true, data: { deleted: true } });
    expect((await one('GET', '/api/me', token)).status).toBe(401);
    await expect.poll(async () => (await other('GET', '/api/me', token)).status).toBe(401);
    expect((await one('DELETE', `/api/keys/${id}`)).body.code).toBe('key_not_found');
  });

  it('end with the key that made them, at every replica, and with what they made themselves', async () => {
    const parent = await create({ name: 'parent', scopes: ['read', 'keys'] });
    const make = async (token: string) =>
      (await one('POST', '/api/keys', token, { name: 'made', scopes: ['read', 'keys'] })).body.data;
    const child = await make(parent.token);
    const grandchild = await make(child.token);
    const aside = await make(system.token);
    expect((await other('GET', '/api/me', grandchild.token)).status).toBe(200);
    expect((await one('DELETE', `/api/keys/${parent.id}`)).status).toBe(200);
    for (const { token } of [child, grandchild]) {
      expect((await one('GET', '/api/me', token)).status).toBe(401);
      await expect.poll(async () => (await other('GET', '/api/me', token)).status).toBe(401);
    }
    expect((await one('GET', '/api/me', aside.token)).status).toBe(200);
  });

  it('stay when the key that made them is replaced, and end with the one in its place', async () => {
    const parent = await create({ name: 'parent', scopes: ['read', 'keys'] });
    const body = { name: 'made', scopes: ['read', 'keys'] };
    const child = (await one('POST', '/api/keys', parent.token, body)).body.data;
    const next = (await one('POST', `/api/keys/${parent.id}/rotate`)).body.data;
    expect((await one('GET', '/api/me', child.token)).status).toBe(200);
    await one('DELETE', `/api/keys/${next.id}`);
    expect((await one('GET', '/api/me', child.token)).status).toBe(401);
  });

  it('end with the key that replaced them, also where each replaced the other', async () => {
    const parent = await create({ name: 'parent', scopes: ['read', 'keys'] });
    const body = { name: 'thief', scopes: ['read', 'keys'] };
    const thief = (await one('POST', '/api/keys', parent.token, body)).body.data;
    const taken = (await one('POST', `/api/keys/${parent.id}/rotate`, thief.token)).body.data;
    expect(taken.madeBy).toBe(thief.id);
    await one('DELETE', `/api/keys/${thief.id}`);
    expect((await one('GET', '/api/me', taken.token)).status).toBe(401);
    expect((await one('GET', '/api/me', thief.token)).status).toBe(401);
  });

  it('are not made by a key whose revocation comes first', async () => {
    const { id, token } = await create({ name: 'racing', scopes: ['read', 'keys'] });
    const body = { name: 'late', scopes: ['read'] };
    const answers = await Promise.all([
      ...Array.from({ length: 8 }, () => one('POST', '/api/keys', token, body)),
      one('DELETE', `/api/keys/${id}`),
    ]);
    const made = answers.slice(0, 8).flatMap(({ body: { data } }) => (data ? [data.token] : []));
    for (const late of made)
      await expect.poll(async () => (await one('GET', '/api/me', late)).status).toBe(401);
    const rows = await sql`select from keys where made_by = ${id} and revoked_at is null`.execute(system.db);
    expect(rows.rows).toEqual([]);
  });

  // Within a second: the key verifier's own test holds the clock.
  it('stop when the revocation was not announced', async () => {
    const { id, token } = await create({ name: 'silent', scopes: ['read'] });
    expect((await one('GET', '/api/me', token)).status).toBe(200);
    await sql`update keys set revoked_at = now() where id = ${id}`.execute(system.db);
    await expect.poll(async () => (await one('GET', '/api/me', token)).status).toBe(401);
  });

  it('stop with their account', async () => {
    const { account, key } = await createAccountWithKey(system.db, { name: 'short' });
    expect((await one('GET', '/api/me', key.token)).status).toBe(200);
    await sql`update accounts set disabled_at = now() where id = ${account.id}`.execute(system.db);
    await expect.poll(async () => (await one('GET', '/api/me', key.token)).status).toBe(401);
  });

  it('are rotated: the old one ends at once, or after the grace asked for', async () => {
    const { id, token } = await create({ name: 'turning', scopes: ['read'] });
    const next = await one('POST', `/api/keys/${id}/rotate?graceSeconds=60`);
    expect(next.status).toBe(201);
    expect(next.body.data).toMatchObject({ name: 'turning', scopes: ['read'] });
    expect((await one('GET', '/api/me', token)).status).toBe(200);
    const last = await one('POST', `/api/keys/${next.body.data.id}/rotate`);
    expect((await one('GET', '/api/me', next.body.data.token)).status).toBe(401);
    expect((await one('GET', '/api/me', last.body.data.token)).status).toBe(200);
  });

  it('belong to their account alone', async () => {
    const stranger = await createAccountWithKey(system.db, { name: 'stranger' });
    const { id } = await create({ name: 'mine', scopes: ['read'] });
    for (const [method, path] of [
      ['DELETE', `/api/keys/${id}`],
      ['POST', `/api/keys/${id}/rotate`],
    ] as const) {
      const answer = await one(method, path, stranger.key.token);
      expect([answer.status, answer.body.code]).toEqual([404, 'key_not_found']);
    }
    expect((await one('GET', '/api/keys', stranger.key.token)).body.pagination.total).toBe(1);
  });

  it('are limited in number', async () => {
    const { account, key } = await createAccountWithKey(system.db, { name: 'collector' });
    await sql`
      insert into keys (id, account_id, name, hash, scopes)
      select 'filler' || n, ${account.id}, 'filler', ''::bytea, '{read}' from generate_series(2, ${MAX_KEYS}) as n
    `.execute(system.db);
    const answer = await one('POST', '/api/keys', key.token, { name: 'one more', scopes: ['read'] });
    expect([answer.status, answer.body.code]).toEqual([409, 'limit_reached']);
    const own = `/api/keys/${key.id}/rotate`;
    const kept = await one('POST', `${own}?graceSeconds=60`, key.token);
    expect([kept.status, kept.body.code]).toEqual([409, 'limit_reached']);
    expect((await one('GET', '/api/keys?limit=101', key.token)).status).toBe(400);
    expect((await one('GET', '/api/keys?page=2&limit=60', key.token)).body).toMatchObject({
      pagination: { page: 2, limit: 60, total: MAX_KEYS, totalPages: 2 },
    });
  });

  it('know when they were used last, without a write per request', async () => {
    const { id, token } = await create({ name: 'used', scopes: ['read', 'keys'] });
    await one('GET', '/api/me', token);
    await system.gateways[0]?.[Symbol.asyncDispose]();
    const answer = await other('GET', '/api/keys?limit=100', system.token);
    const used = answer.body.data.find((key: { id: string }) => key.id === id);
    expect(Date.now() - Date.parse(used.lastUsedAt)).toBeLessThan(60_000);
  });
});

describe('starting', () => {
  it('says what to do when the port is taken', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => holder.once('listening', resolve));
    const { port } = holder.address() as { port: number };
    const failed = startReplicas(1, { PORT: String(port) });
    await expect(failed).rejects.toThrow(StartupError);
    await expect(failed).rejects.toThrow(`Port ${port} on 127.0.0.1 is in use`);
    holder.close();
  });
});
