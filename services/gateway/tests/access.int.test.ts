import { httpOperations } from '@orrery/contracts';
import { describe, expect, it } from 'vitest';
import { BODY_EXAMPLES, PATH_EXAMPLES } from '../src/documents/openapi/examples.js';
import { fakeApp, scopes } from './support/fake-app.js';

const { app, seen } = fakeApp({ routes: httpOperations });
const reached: string[] = [];
app.addHook('onRequest', ({ method, routeOptions }, _reply, done) => {
  reached.push(`${method} ${routeOptions.url}`);
  done();
});
const guarded = httpOperations
  .filter(({ access }) => access.relation !== 'public')
  .map((rpc) => [rpc.name, rpc] as const);

type Rpc = (typeof httpOperations)[number];
const send = ({ name, http }: Rpc, headers: Record<string, string>) =>
  app.inject({
    method: http.method,
    url: http.path.replaceAll(/:(\w+)/g, (_all, param: string) =>
      encodeURIComponent(PATH_EXAMPLES[param] ?? 'x'),
    ),
    headers,
    ...(BODY_EXAMPLES[name] !== undefined && { body: BODY_EXAMPLES[name] as object }),
  });

it.each(httpOperations.map((rpc) => [rpc.name, rpc] as const))(
  '%s is reached at its own path',
  async (_name, rpc) => {
    reached.length = 0;
    const answer = await send(rpc, {});
    expect(reached).toEqual([`${rpc.http.method} ${rpc.http.path}`]);
    expect(answer.statusCode).not.toBe(404);
  },
);

it('a key that may only execute tries no version that is not saved, since its definition says what is read', async () => {
  const rpc = httpOperations.find(({ name }) => name === 'deployments.try') as Rpc;
  const answer = await send(rpc, { authorization: 'Bearer key-execute' });
  expect([answer.statusCode, answer.json().code]).toEqual([403, 'forbidden']);
  expect((await send(rpc, { authorization: 'Bearer key-write' })).statusCode).not.toBe(403);
});

describe.each(guarded)('%s', (_name, rpc) => {
  it.each([
    ['no token', {}],
    ['a token that is none', { authorization: 'Bearer nonsense' }],
    ['a revoked token', { authorization: 'Bearer revoked' }],
  ] as [string, Record<string, string>][])('refuses %s', async (_what, headers) => {
    const before = seen.length;
    const answer = await send(rpc, headers);
    expect([answer.statusCode, answer.json().code]).toEqual([401, 'unauthorized']);
    expect(answer.headers['www-authenticate']).toBe('Bearer realm="orrery"');
    expect(seen.length).toBe(before);
  });

  it('wants exactly the scope that the contract names', async () => {
    const { scope } = rpc.access;
    for (const one of scopes) {
      const answer = await send(rpc, { authorization: `Bearer key-${one}` });
      const mayPass = scope === 'none' || scope === one;
      expect(answer.statusCode === 403, `${one} for ${scope}`).toBe(!mayPass);
      expect(answer.statusCode).not.toBe(401);
    }
  });
});
