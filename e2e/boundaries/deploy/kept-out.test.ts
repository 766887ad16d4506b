import { execFileSync, spawnSync } from 'node:child_process';
import { matchesGlob } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../variables-read.js';
import { textOf } from './read-deploy.js';

/** What an operator makes in a checkout as the pages say, by a path that is an example. */
const SECRETS = [
  '.env',
  '.env.production',
  'deploy/kubernetes-mine/secrets.env',
  'deploy/kubernetes-mine/secrets-2.env',
  'signing-keys',
  'key.pem',
  'config/payments.json',
  'wallet.json',
  'guest.json',
  '.orrery/api-key',
  '.orrery-2/api-key',
];

const ignored = textOf('.dockerignore').split('\n').filter(Boolean);
const parents = (path: string): string[] =>
  path.split('/').map((_, index, parts) => parts.slice(0, index + 1).join('/'));

describe.each(SECRETS)('%s', (path) => {
  it('is not taken into a commit', () => {
    expect(spawnSync('git', ['check-ignore', '--quiet', '--no-index', path], { cwd: ROOT }).status).toBe(0);
  });

  it('is not sent to what builds the images', () => {
    const out = parents(path).filter((one) => ignored.some((pattern) => matchesGlob(one, pattern)));
    expect(out).not.toEqual([]);
  });
});

it('no file of the repository is kept out', () => {
  const listed = ['ls-files', '--cached', '--ignored', '--exclude-standard'];
  expect(execFileSync('git', listed, { cwd: ROOT, encoding: 'utf8' })).toBe('');
});
