import { expect, it } from 'vitest';
import {
  answering,
  type Received,
  refusing,
  runCommand,
  type Step,
  startScriptedServer,
} from './scripted-server.js';

const DEPLOYMENT = '1/2';
const LIST = ['instances', 'list', DEPLOYMENT, '--all'];
const rows = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => ({
    id: `k${from + at}`,
    name: `n${from + at}`,
    instanceId: `i${from + at}`,
  }));
const byCursor = (from: number, to: number, next: string | null): Step =>
  answering(rows(from, to), { pagination: { limit: 100, next } });
const byPage = (page: number, total: number): Step => {
  const pagination = { page, limit: 100, total, totalPages: Math.ceil(total / 100) };
  return answering(rows((page - 1) * 100, Math.min(page * 100, total)), { pagination });
};
const queries = (received: readonly Received[]) => received.map(({ url }) => url.split('?')[1]);
const asJson = (out: string) => (JSON.parse(out) as { instanceId: string }[]).map((one) => one.instanceId);

it('all instances are listed by cursor, so that no page is too deep', async () => {
  const { url, received } = await startScriptedServer(byCursor(0, 100, 'c1'), byCursor(100, 150, null));
  const { out, notes } = await runCommand(url, ...LIST, '--json');
  expect(asJson(out)).toEqual(rows(0, 150).map(({ instanceId }) => instanceId));
  expect(notes).toBe('');
  expect(queries(received)).toEqual(['limit=100&orderBy=id', 'limit=100&orderBy=id&cursor=c1']);
});

it('all instances are listed by page where an older server has no such order', async () => {
  const old = refusing(400, 'validation_failed');
  const { url, received } = await startScriptedServer(old, byPage(1, 150), byPage(2, 150));
  expect(asJson((await runCommand(url, ...LIST, '--json')).out)).toHaveLength(150);
  expect(queries(received)).toEqual(['limit=100&orderBy=id', 'limit=100', 'limit=100&page=2']);
  const away = await startScriptedServer(refusing(403, 'insufficient_scope'));
  expect((await runCommand(away.url, ...LIST)).message).toContain('insufficient_scope');
  expect(away.received).toHaveLength(1);
});

it.each([
  ['instances', [...LIST, '--entity-schema', 'horse'], 'and with --entity-schema and --order-by id.'],
  ['anything else', ['worlds', 'list', '--all'], 'narrow it by the options that --help shows.'],
])('a list of %s that is too long for its pages says so, and what to do', async (_, args, advice) => {
  const { url } = await startScriptedServer(byPage(1, 200_000), refusing(400, 'page_too_deep'));
  const { out, message } = await runCommand(url, ...args);
  expect(out).toBe('');
  expect(message).toContain('(400 page_too_deep)');
  expect(message).toContain(`so nothing is shown`);
  expect(message.endsWith(advice)).toBe(true);
});

it('`keys list` shows the keys of all pages', async () => {
  const { url, received } = await startScriptedServer(byPage(1, 130), byPage(2, 130));
  const { out, notes } = await runCommand(url, 'keys', 'list');
  expect(out.split('\n')).toHaveLength(131);
  expect([notes, received.length]).toEqual(['', 2]);
});
