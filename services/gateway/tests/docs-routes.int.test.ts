import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fakeApp } from './support/fake-app.js';

const FILES = {
  'index.html': '<!doctype html><title>Orrery documentation</title>',
  'guides/every-night.html': '<!doctype html><title>Something every night</title>',
  'assets/page-AB12.js': 'export const answer = 42;',
  'llms.txt': '# Orrery',
};
let above: string;
let docsFolder: string;

/** A build as `apps/docs` makes it, with a file beside its folder. */
beforeAll(async () => {
  above = await mkdtemp(join(tmpdir(), 'orrery-docs-'));
  docsFolder = join(above, 'site');
  for (const [name, content] of Object.entries(FILES)) {
    const file = join(docsFolder, name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
    await writeFile(`${file}.br`, brotliCompressSync(content));
  }
  await writeFile(join(above, 'secret.html'), 'beside the pages');
});
afterAll(() => rm(above, { recursive: true, force: true }));

const open = (url: string, headers: Record<string, string> = {}) =>
  fakeApp({ docsFolder }).app.inject({ url, headers });

describe('the pages of /docs', () => {
  it('are sent under a policy that allows files of the server alone, and asked for again each time', async () => {
    for (const [url, name] of [
      ['/docs', 'index.html'],
      ['/docs/guides/every-night', 'guides/every-night.html'],
    ] as const) {
      const answer = await open(url);
      expect([answer.statusCode, answer.body]).toEqual([200, FILES[name]]);
      expect(answer.headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-cache',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'content-security-policy':
          "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
          "frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
      });
      const again = await open(url, { 'if-none-match': String(answer.headers.etag) });
      expect(again.statusCode).toBe(304);
    }
  });

  it('have files that are kept for ever, compressed as the browser takes them', async () => {
    const brotli = await open('/docs/assets/page-AB12.js', { 'accept-encoding': 'gzip, br' });
    expect(brotli.headers).toMatchObject({
      'content-encoding': 'br',
      'cache-control': 'public, max-age=31536000, immutable',
    });
    expect(brotliDecompressSync(brotli.rawPayload).toString()).toBe(FILES['assets/page-AB12.js']);
  });

  it('come with a text for agents', async () => {
    const text = await open('/llms.txt');
    expect([text.body, text.headers['content-type']]).toEqual(['# Orrery', 'text/plain; charset=utf-8']);
  });

  it('hold no other file', async () => {
    const paths = ['nothing', '../secret', '%2e%2e/secret', '..%2fsecret', 'guides', 'guides/', 'index.html'];
    for (const path of [...paths, 'assets/none.js', 'assets/', 'assets/..%2findex.html', '__proto__']) {
      const absent = await open(`/docs/${path}`);
      expect([path, absent.statusCode, absent.json().code]).toEqual([path, 404, 'route_not_found']);
    }
    const led = await open('/docs/');
    expect([led.statusCode, led.headers.location]).toEqual([308, '/docs']);
  });

  it('are missed with words that say why', async () => {
    const { app } = fakeApp();
    const absent = await app.inject({ url: '/docs' });
    expect([absent.statusCode, absent.json().error]).toEqual([
      404,
      'The pages were not built: run `npm run build`, and start again.',
    ]);
  });
});
