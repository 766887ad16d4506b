import { describe, expect, it } from 'vitest';
import { answering, breaking, page, refusing, runCommand, startScriptedServer } from './scripted-server.js';

const ADDRESS = `0x${'a'.repeat(40)}`;
const DEPLOYMENT = `${ADDRESS}/${ADDRESS}`;
const EXECUTE = ['execute', DEPLOYMENT, 'win'];
const committed = answering({ kind: 'committed', seq: 5 });

const keysOf = (received: readonly { readonly headers: Readonly<Record<string, unknown>> }[]) =>
  received.map(({ headers }) => headers['idempotency-key']);

describe('a request', () => {
  it('that takes a key is repeated with it where its answer is lost, so that it takes effect once', async () => {
    const { url, received } = await startScriptedServer(breaking, committed);
    const { out, failure } = await runCommand(url, ...EXECUTE);
    expect([failure, out]).toEqual([undefined, expect.stringContaining('seq: 5')]);
    const [first, second] = keysOf(received);
    expect([first, received.length]).toEqual([second, 2]);
    expect(first).toMatch(/^\S+$/);
  });

  it('keeps the key that was given, and has another one each time', async () => {
    const { url, received } = await startScriptedServer(committed);
    await runCommand(url, ...EXECUTE, '--idempotency-key', 'race-7');
    await runCommand(url, ...EXECUTE);
    await runCommand(url, ...EXECUTE);
    const [given, one, other] = keysOf(received);
    expect(given).toBe('race-7');
    expect(one).not.toBe(other);
  });

  it('without a key is not repeated, and says that it may have taken effect', async () => {
    const { url, received } = await startScriptedServer(breaking);
    const { message } = await runCommand(url, 'deployments', 'publish', DEPLOYMENT);
    const [first, second] = message.split('\n');
    expect(first).toMatch(/^No answer came from http:\S+ \([A-Z_]+\)\.$/);
    expect(second).toBe('It may have taken effect: look before you repeat it.');
    expect(received).toHaveLength(1);
  });

  it('whose outcome the server does not know names the key to repeat it with', async () => {
    const facts = { outcome: 'unknown' };
    const headers = { 'retry-after': '3600' };
    const { url } = await startScriptedServer((reply) => {
      reply.writeHead(503, headers).end(JSON.stringify({ code: 'unavailable', detail: 'Away.', facts }));
    });
    const { message } = await runCommand(url, ...EXECUTE, '--idempotency-key', 'race-7');
    expect(message).toBe(
      `Away. (503 unavailable)\nRefused: POST /api/worlds/${ADDRESS}/deployments/${ADDRESS}/execute\n` +
        'It may have taken effect: `orrery history list` shows it then. With --idempotency-key race-7 a repetition has no second effect.',
    );
  });

  it('waits where the server says so', async () => {
    const { url } = await startScriptedServer(refusing(429, 'rate_limited'), answering([]));
    expect(await runCommand(url, 'worlds', 'list')).toMatchObject({ out: 'none', failure: undefined });
  });

  it.each([
    [404, 'GET', ['worlds', 'list'], ''],
    [400, 'POST', ['deployments', 'publish', DEPLOYMENT], ''],
    [
      502,
      'POST',
      ['deployments', 'publish', DEPLOYMENT],
      '\nIt may have taken effect: look before you repeat it.',
    ],
    [
      200,
      'POST',
      ['deployments', 'publish', DEPLOYMENT],
      '\nIt may have taken effect: look before you repeat it.',
    ],
    [
      204,
      'POST',
      ['deployments', 'publish', DEPLOYMENT],
      '\nIt may have taken effect: look before you repeat it.',
    ],
  ])('that a page with the status %i answers is no answer of Orrery (%s)', async (status, _, args, more) => {
    const { url } = await startScriptedServer(page(status));
    const { message } = await runCommand(url, ...args);
    expect(message).toBe(
      `The answer is HTTP ${status}, and it is not from Orrery.\n` +
        `Look at the address, ${url}, and at what stands before the server.${more}`,
    );
  });

  it('that is sent to another address is no success', async () => {
    const { url, received } = await startScriptedServer(page(301, { location: '/other' }), answering([]));
    const { out, message } = await runCommand(url, 'worlds', 'create', 'Mine');
    expect(out).toBe('');
    expect(message).toMatch(new RegExp(`^The request was redirected to ${url}/other, .*\nIt may have`));
    expect(received.map(({ method }) => method)).toEqual(['POST', 'GET']);
  });

  it('that no URL or header can hold is not sent', async () => {
    const { url, received } = await startScriptedServer(answering({}));
    // It would delete the world.
    const up = await runCommand(url, 'events', 'delete', ADDRESS, '..');
    expect(up.message).toMatch(/^The path's eventName cannot be '\.\.'/);
    const accent = await runCommand(url, ...EXECUTE, '--idempotency-key', 'löppet…');
    expect(accent.message).toBe('--idempotency-key takes printable ASCII characters alone, not "löppet…".');
    expect(received).toEqual([]);
  });
});
