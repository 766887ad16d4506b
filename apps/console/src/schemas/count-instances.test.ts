import { createOrrery } from '@orrery/sdk';
import { expect, it } from 'vitest';
import { type Counting, countDeployments } from './count-instances.js';

/** A world of two deployments, of two requests each; `asked`: the requests for their instances. */
function twoDeployments() {
  const asked: string[] = [];
  const answer = async (request: Request) => {
    request.signal.throwIfAborted();
    const { pathname } = new URL(request.url);
    const ofWorld = [1, 2].map((id) => ({ id, worldAddress: '0xw', address: `0x${id}` }));
    const pagination = { page: 1, limit: 100, total: 2, totalPages: 1 };
    if (!pathname.endsWith('/check')) return Response.json({ success: true, data: ofWorld, pagination });
    const { cursor = null } = (await request.json()) as { cursor?: string };
    asked.push(pathname.split('/').at(-3) ?? '');
    const data = { lookedAt: 10, unfit: 1, mappable: 0, misfits: [], next: cursor === null ? 'more' : null };
    return Response.json({ success: true, data });
  };
  const orrery = createOrrery({ url: 'http://orrery.test', token: 'x', fetch: answer as typeof fetch });
  return { orrery, asked };
}
const schema = { world: '0xw', schema: 'horse' };
const shown = ({ deployments, of, lookedAt }: Counting) => [deployments.length, of, lookedAt];

it('tells after each request how far it has come', async () => {
  const { orrery, asked } = twoDeployments();
  const all: Counting[] = [];
  for await (const one of countDeployments(orrery, schema, new AbortController().signal)) all.push(one);
  expect(all.map(shown)).toEqual([
    [0, 2, 10],
    [0, 2, 20],
    [1, 2, 20],
    [1, 2, 30],
    [1, 2, 40],
    [2, 2, 40],
  ]);
  expect(all.at(-1)?.deployments.map(({ lookedAt, unfit }) => [lookedAt, unfit])).toEqual([
    [20, 2],
    [20, 2],
  ]);
  expect(asked).toEqual(['0x1', '0x1', '0x2', '0x2']);
});

it('asks no more once it is stopped', async () => {
  const { orrery, asked } = twoDeployments();
  const stopping = new AbortController();
  const counting = countDeployments(orrery, schema, stopping.signal);
  await counting.next();
  stopping.abort(new Error('left'));
  await expect(counting.next()).rejects.toThrow('left');
  expect(asked).toEqual(['0x1']);
});
