import { readingContract, ServiceError } from '@orrery/contracts';
import { systemClock } from '@orrery/service-kit';
import { describe, expect, it } from 'vitest';
import { perMinute } from '../src/core/rates/token-bucket.js';
import type { RoutedRpc } from '../src/core/requests/operation.js';
import { createFindPublished } from '../src/public/published.js';
import { fakeApp } from './support/fake-app.js';

const routes = Object.values(readingContract.rpcs) as RoutedRpc[];
const ADDRESS = `0x${'5a'.repeat(20)}`;
const PATH = `/app/deployments/${ADDRESS}`;
const entry = { id: 'x', kind: 'execution', seq: 3, input: { a: 1 }, hash: 'h', pushes: [], payment: null };

function readingApp(overrides = {}) {
  const made = fakeApp({ routes, ...overrides });
  made.answers['history.get'] = async () => ({ data: { ...entry } });
  return made;
}

describe('reading a published deployment', () => {
  it('asks the operation of the API on behalf of nobody, also where a key is sent', async () => {
    const { app, seen } = readingApp();
    const headers = { authorization: 'Bearer key-all' };
    const answer = await app.inject({ url: `${PATH}/entity-instances/A?entitySchema=horse`, headers });
    expect(answer.statusCode).toBe(200);
    expect(seen[0]).toMatchObject({
      name: 'instances.get',
      request: { params: { worldAddress: '1', instanceId: 'A' }, query: { entitySchema: 'horse' } },
      call: { caller: { kind: 'anonymous' } },
    });
  });

  it('passes a list on as it came, and asks under the route that is served, as traces name it', async () => {
    const asked: (readonly [name: string, path: string, passesOn: boolean | undefined])[] = [];
    const text = '{"data":[{"n":1.0}],"pagination":{"page":1},"isMoving":true}';
    const { app } = fakeApp({
      routes,
      call: async ({ name, http }, _request, { passesOn }) => {
        asked.push([name, http.path, passesOn]);
        return { data: { ...entry }, ...(passesOn && { text }) };
      },
    });
    const needed = {
      'public.aggregate': '?entitySchema=a',
      'public.rank': '?entitySchema=a&orderBy=b',
      'public.proof': '?seq=1&size=2',
      'public.consistency': '?from=1&to=2',
    };
    const read = routes.filter(({ http }) => http.stream === undefined);
    for (const { name, http } of read) {
      const path = http.path.replace(':address', ADDRESS).replace(/:\w+/, 'x');
      const url = `${path}${needed[name as keyof typeof needed] ?? ''}`;
      expect((await app.inject(url)).statusCode, url).toBe(200);
    }
    expect(asked.map(([, path]) => path)).toEqual(read.map(({ http }) => http.path));
    expect(asked.filter(([, , passesOn]) => !passesOn).map(([name]) => name)).toEqual(['history.get']);
    const { body, headers } = await app.inject(`${PATH}/history`);
    expect(body).toBe('{"success":true,"data":[{"n":1.0}],"pagination":{"page":1}}');
    // By its text, since it can change by itself.
    expect((await app.inject(`${PATH}/history?limit=9`)).headers.etag).toBe(headers.etag);
  });

  it('asks nothing more for what is unchanged', async () => {
    const { app, seen } = readingApp();
    const { headers } = await app.inject(`${PATH}/history/x`);
    const again = await app.inject({
      url: `${PATH}/history/x`,
      headers: { 'if-none-match': headers.etag as string },
    });
    expect([again.statusCode, again.body, seen.length]).toEqual([304, '', 1]);
  });

  it('tells who knows any answer that nothing is there', async () => {
    const { app, answers } = readingApp();
    const read = async () => {
      const headers = { 'if-none-match': '*' };
      return (await app.inject({ url: `${PATH}/history/x`, headers })).statusCode;
    };
    expect(await read()).toBe(304);
    answers['history.get'] = async () => {
      throw new ServiceError('history_entry_not_found');
    };
    expect(await read()).toBe(404);
  });

  it.each([
    [{ pushes: [{ status: 'submitted' }] }, { pushes: [{ status: 'finalized' }] }],
    [{ payment: { status: 'settling' } }, { payment: { status: 'settled', transaction: '0x1' } }],
    [{ payment: { status: 'refused' } }, { payment: { status: 'refund_due', transaction: '0x1' } }],
  ])('tells what goes on after an entry, though its journal stands still: %j', async (before, after) => {
    const { app, answers } = readingApp();
    const read = async (tag = '') =>
      app.inject({ url: `${PATH}/history/x`, headers: { 'if-none-match': tag } });
    answers['history.get'] = async () => ({ data: { ...entry, ...before } });
    const { etag } = (await read()).headers;
    expect((await read(etag as string)).statusCode).toBe(304);
    answers['history.get'] = async () => ({ data: { ...entry, ...after } });
    expect((await read(etag as string)).statusCode).toBe(200);
  });

  it('counts reads and verifications of a client address apart', async () => {
    const one = (name: string) => perMinute(name, 1);
    const rates = {
      key: one('key'),
      address: one('address'),
      reading: perMinute('reading', 2),
      verification: one('verification'),
      wallet: one('wallet'),
      signIn: one('sign-in'),
    };
    const { app } = readingApp({ rates });
    const statuses = async (below: string, times: number) => {
      const all = [];
      for (let i = 0; i < times; i += 1) all.push((await app.inject(`${PATH}${below}`)).statusCode);
      return all;
    };
    expect(await statuses('/history/verify', 2)).toEqual([200, 429]);
    expect(await statuses('', 3)).toEqual([200, 200, 429]);
  });
});

describe('verifications without a key', () => {
  const all = perMinute('all', 100);
  const rates = {
    key: all,
    address: all,
    reading: all,
    verification: all,
    wallet: all,
    node: all,
    signIn: all,
  };
  /** Verifications go on when the test says. */
  function verifying(overrides = {}) {
    const { app, answers } = readingApp({ rates, ...overrides });
    const running: (() => void)[] = [];
    answers['history.verify'] = () =>
      new Promise((resolve) => running.push(() => resolve({ data: { valid: true } as never })));
    const verify = async (remoteAddress: string) =>
      (await app.inject({ url: `${PATH}/history/verify`, remoteAddress })).statusCode;
    return { running, verify };
  }

  it('run one at a time, and one more of a client address waits, so others have their turn', async () => {
    const { running, verify } = verifying();
    const one = [verify('192.0.2.1'), verify('192.0.2.1')];
    await expect.poll(() => running.length).toBe(1);
    expect(await verify('192.0.2.1')).toBe(429);
    const other = verify('192.0.2.2');
    for (const times of [1, 2, 3]) {
      await expect.poll(() => running.length).toBe(times);
      running.at(-1)?.();
    }
    expect(await Promise.all([...one, other])).toEqual([200, 200, 200]);
  });

  it('wait no longer than their deadline', async () => {
    const { running, verify } = verifying({ deadlineMs: 100 });
    expect(await Promise.all([verify('192.0.2.1'), verify('192.0.2.2')])).toEqual([504, 504]);
    expect(running.length).toBe(1);
  });
});

it('finds many published deployments with one call, each by what was so after it was asked for', async () => {
  const [a, b, gone] = ['a', 'b', 'c'].map((digit) => `0x${digit.repeat(40)}`) as [string, string, string];
  const calls: string[][] = [];
  let answer = () => {};
  const bus = {
    call: async (_rpc: unknown, { deployments }: { deployments: string[] }) => {
      calls.push(deployments);
      if (calls.length === 1) await new Promise<void>((resolve) => (answer = resolve));
      return { deployments: deployments.map((address) => (address === gone ? null : { address })) };
    },
  };
  const find = createFindPublished(bus as never, systemClock);
  const first = find(a);
  await new Promise(setImmediate);
  const later = [a, b, b, gone].map((one) => find(one).catch(({ code }) => code));
  answer();
  expect(await first).toEqual({ address: a });
  expect(await Promise.all(later)).toEqual([
    { address: a },
    { address: b },
    { address: b },
    'deployment_not_found',
  ]);
  expect(calls).toEqual([[a], [a, b, gone]]);
});
