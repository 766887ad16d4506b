import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { operationNamed, performOperation } from './perform-operation.js';

/** A journal of 250 entries, to which each request adds one; it is read with `--all`. */
async function readAll(query: Record<string, string> = {}, { fits = 100 } = {}) {
  const asked: string[] = [];
  let head = 250;
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://localhost');
    asked.push(searchParams.toString());
    const limit = Number(searchParams.get('limit'));
    if (limit > fits)
      return response.writeHead(400).end('{"code":"page_too_deep","detail":"Use a smaller limit."}');
    const page = Number(searchParams.get('page') ?? 1);
    const first = Number(searchParams.get('after') ?? head + 1) - 1 - (page - 1) * limit;
    const data = Array.from({ length: Math.min(limit, first) }, (_, at) => ({ seq: first - at }));
    const pagination = { page, limit, total: head, totalPages: Math.ceil(head / limit) };
    head += 1;
    response.end(JSON.stringify({ success: true, data, pagination }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const written: string[] = [];
  await performOperation(
    operationNamed('history.list'),
    { params: { worldAddress: '1', address: '2' }, query },
    {
      server: { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, key: 'k' },
      write: (text: string) => void written.push(text),
      note: () => undefined,
      json: true,
      all: true,
    } as never,
  );
  return { asked, seqs: JSON.parse(written.join('')).map(({ seq }: { seq: number }) => seq) };
}

it('reads all of a history by its entries: one that is written meanwhile shows none twice, and no page is too deep', async () => {
  const { asked, seqs } = await readAll({ include: 'all' });
  expect(seqs).toEqual(Array.from({ length: 250 }, (_, at) => 250 - at));
  expect(asked).toEqual([
    'limit=100&include=all',
    'limit=100&include=all&after=151',
    'limit=100&include=all&after=51',
  ]);
});

it('reads a history whose pages are too large together in smaller ones', async () => {
  const { asked, seqs } = await readAll({}, { fits: 40 });
  expect(seqs).toEqual(Array.from({ length: 250 }, (_, at) => 250 - at));
  expect(asked.slice(0, 3)).toEqual(['limit=100', 'limit=40', 'limit=100&after=211']);
  // Smaller pages have other numbers.
  await expect(readAll({ page: '2' }, { fits: 40 })).rejects.toThrow('Use a smaller limit.');
});

it('begins where it is told to', async () => {
  expect((await readAll({ page: '2' })).seqs[0]).toBe(150);
  expect((await readAll({ after: '20' })).seqs).toHaveLength(19);
});
