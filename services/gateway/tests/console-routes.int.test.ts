import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fakeApp } from './support/fake-app.js';

const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const page =
  '<!doctype html><meta property="csp-nonce" nonce="NONCE_OF_THE_PAGE"><title>Orrery console</title>';
const script = 'export const answer = 42;';
let consoleFolder: string;

/** A build as `apps/console` makes it: the page and a file named by its contents, each compressed beside it. */
beforeAll(async () => {
  consoleFolder = await mkdtemp(join(tmpdir(), 'orrery-console-'));
  await mkdir(join(consoleFolder, 'assets'));
  await writeFile(join(consoleFolder, 'secret.txt'), 'beside the page');
  for (const [name, content] of Object.entries({ 'index.html': page, 'assets/index-Ab12.js': script })) {
    await writeFile(join(consoleFolder, name), content);
    await writeFile(join(consoleFolder, `${name}.br`), brotliCompressSync(content));
    await writeFile(join(consoleFolder, `${name}.gz`), gzipSync(content));
  }
});
afterAll(() => rm(consoleFolder, { recursive: true, force: true }));

const open = (url: string, headers: Record<string, string> = { accept }) =>
  fakeApp({ consoleFolder }).app.inject({ url, headers });

describe('the console', () => {
  it('is where a browser is led from the root', async () => {
    const led = await open('/');
    expect([led.statusCode, led.headers.location]).toEqual([302, '/console/']);
    expect((await open('/console')).headers.location).toBe('/console/');
    expect((await open('/', { accept: '*/*' })).statusCode).toBe(404);
  });

  it('is one page at every address that is no file, under a policy that allows its own files alone', async () => {
    for (const url of ['/console/', '/console/sign-in', '/console/worlds/0xab/events/a.b?left=1']) {
      const answer = await open(url);
      const policy = String(answer.headers['content-security-policy']);
      const nonce = /'nonce-([\w+/=]{24})'/.exec(policy)?.[1] ?? '';
      expect([url, answer.statusCode, answer.body]).toEqual([
        url,
        200,
        page.replace('NONCE_OF_THE_PAGE', nonce),
      ]);
      expect(answer.headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      });
      expect(policy).toBe(
        `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; connect-src 'self'; ` +
          "img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
      );
    }
  });

  it('has a nonce of its own each time', async () => {
    const [first, second] = await Promise.all([open('/console/'), open('/console/')]);
    expect(first.body).not.toBe(second.body);
  });

  it('sends its files compressed as the browser takes them, to be kept for ever', async () => {
    const file = '/console/assets/index-Ab12.js';
    const plain = await open(file, {});
    expect([plain.statusCode, plain.body, plain.headers['content-encoding']]).toEqual([
      200,
      script,
      undefined,
    ]);
    expect(plain.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    const brotli = await open(file, { 'accept-encoding': 'gzip, deflate, br' });
    expect(brotli.headers).toMatchObject({
      'content-encoding': 'br',
      'content-type': 'application/javascript; charset=utf-8',
      vary: 'accept-encoding',
    });
    expect(brotliDecompressSync(brotli.rawPayload).toString()).toBe(script);
    const gzip = await open(file, { 'accept-encoding': 'gzip' });
    expect(gzip.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(gzip.rawPayload).toString()).toBe(script);
  });

  it('holds no other file, and tells programs that nothing is there', async () => {
    for (const path of [
      'assets/none.js',
      'assets/',
      'assets/../secret.txt',
      'assets/%2e%2e/secret.txt',
      'assets/..%2fsecret.txt',
    ]) {
      const absent = await open(`/console/${path}`);
      expect([path, absent.body.includes('beside the page')]).toEqual([path, false]);
    }
    expect((await open('/console/assets/none.js')).json().code).toBe('route_not_found');
    const told = await open('/console/worlds/1', { accept: 'application/json' });
    expect([told.statusCode, told.json().code]).toEqual([404, 'route_not_found']);
    const written = await fakeApp({ consoleFolder }).app.inject({ method: 'POST', url: '/console/' });
    expect([written.statusCode, written.headers['allow']]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });

  it('can be left out', async () => {
    const { app } = fakeApp({ consoleFolder: undefined });
    expect((await app.inject({ url: '/', headers: { accept } })).headers.location).toBe('/docs');
    expect((await app.inject({ url: '/console/', headers: { accept } })).statusCode).toBe(404);
  });
});
