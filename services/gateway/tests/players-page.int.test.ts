import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServiceError } from '@orrery/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fakeApp } from './support/fake-app.js';

const ADDRESS = `0x${'a'.repeat(40)}`;
const template =
  '<head><title>HEAD_OF_THE_PAGE</title></head><div id="page"><h1>HEADING_OF_THE_PAGE</h1></div>';
let playFolder: string;

beforeAll(async () => {
  playFolder = await mkdtemp(join(tmpdir(), 'orrery-play-'));
  await mkdir(join(playFolder, 'assets'));
  await writeFile(join(playFolder, 'index.html'), template);
  await writeFile(join(playFolder, 'card.png'), 'a picture');
  await writeFile(join(playFolder, 'secret.txt'), 'beside the page');
  await writeFile(join(playFolder, 'assets', 'index-Ab12.js'), 'export {};');
});
afterAll(() => rm(playFolder, { recursive: true, force: true }));

const deployment = {
  address: ADDRESS,
  name: 'Season <1> $& $1',
  description: null,
  world: null,
  totals: { instances: 1, entries: 2, executions: 1 },
};

function opened(overrides: Parameters<typeof fakeApp>[0] = {}) {
  const fake = fakeApp({ playFolder, publicUrl: 'https://worlds.example', ...overrides });
  fake.answers['deployments.describe'] = async () => ({ data: deployment });
  return { ...fake, open: (url: string) => fake.app.inject({ url, headers: { accept: 'text/html' } }) };
}
const absent = async () => {
  throw new ServiceError('deployment_not_found');
};
const policyOf = ({ headers }: { headers: Record<string, unknown> }) =>
  String(headers['content-security-policy']);

describe('the page for players', () => {
  it('is told what it is about, in a policy that allows its own files alone and no frame', async () => {
    const answer = await opened().open(`/play/${ADDRESS}?seq=3`);
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(answer.body).toContain('<title>Season &lt;1&gt; $&amp; $1 · Orrery</title>');
    expect(answer.body).toContain('<h1 dir="auto">Season &lt;1&gt; $&amp; $1</h1>');
    expect(answer.body).toContain(`content="https://worlds.example/play/${ADDRESS}"`);
    expect(policyOf(answer)).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'; frame-ancestors 'none'",
    );
    expect(answer.headers).toMatchObject({
      'x-frame-options': 'DENY',
      'cache-control': 'no-cache',
      'cross-origin-opener-policy': 'same-origin',
    });
  });

  it('may be framed at /embed alone', async () => {
    const { open } = opened();
    const embedded = await open(`/play/${ADDRESS}/embed`);
    expect(embedded.statusCode).toBe(200);
    expect(policyOf(embedded)).toMatch(/; frame-ancestors \*$/);
    expect(embedded.headers).not.toHaveProperty('x-frame-options');
    for (const url of ['/play', `/play/${ADDRESS}`, '/play/assets/index-Ab12.js', '/play/card.png']) {
      const answer = await open(url);
      expect([url, answer.headers['x-frame-options']]).toEqual([url, 'DENY']);
      expect(policyOf(answer)).toContain("frame-ancestors 'none'");
    }
  });

  it('is there, with 404, where nothing is published, and tells nothing', async () => {
    const { open } = opened({ findPublished: absent });
    for (const url of [`/play/${ADDRESS}`, `/play/${ADDRESS}/embed`]) {
      const answer = await open(url);
      expect([answer.statusCode, answer.body.includes('noindex')]).toEqual([404, true]);
    }
  });

  it('is there while services are away, so that it can wait for them', async () => {
    const away = async () => {
      throw new ServiceError('unavailable');
    };
    const answer = await opened({ findPublished: away }).open(`/play/${ADDRESS}`);
    expect([answer.statusCode, answer.body.includes('id="page"')]).toEqual([503, true]);
  });

  it('sends its own files for a year, and no other', async () => {
    const { open } = opened();
    const file = await open('/play/assets/index-Ab12.js');
    expect(file.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    for (const name of ['secret.txt', '..%2fsecret.txt', 'index.html', '..%2findex.html'])
      expect([name, (await open(`/play/assets/${name}`)).statusCode]).toEqual([name, 404]);
  });

  it('has a picture for previews, which other pages may show', async () => {
    const picture = await opened().open('/play/card.png');
    expect(picture.headers).toMatchObject({
      'content-type': 'image/png',
      'cross-origin-resource-policy': 'cross-origin',
    });
    expect(policyOf(picture)).toBe("default-src 'none'; sandbox; frame-ancestors 'none'");
  });

  it('counts as reading', async () => {
    const policy = { name: 'reading', burst: 2, perSecond: 0.001 };
    const names = ['key', 'address', 'reading', 'verification', 'wallet', 'node', 'signIn'];
    const rates = Object.fromEntries(names.map((name) => [name, policy])) as never;
    const { open } = opened({ rates });
    const codes = [];
    for (const _ of [1, 2, 3]) codes.push((await open(`/play/${ADDRESS}`)).statusCode);
    expect(codes).toEqual([200, 200, 429]);
  });

  it('is left out where it was not built', async () => {
    expect((await fakeApp().app.inject({ url: `/play/${ADDRESS}` })).statusCode).toBe(404);
  });
});
