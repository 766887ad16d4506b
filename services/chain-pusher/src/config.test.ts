import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { readChainPusherConfig } from './config.js';

const folder = mkdtempSync(join(tmpdir(), 'orrery-chains-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (name: string, text: string) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

const CHAINS_FILE = file(
  'chains.json',
  JSON.stringify([
    { name: 'local', caip2: 'eip155:31337', family: 'evm', rpcUrls: ['http://a'], signerKeyEnv: 'KEY' },
  ]),
);
const key = `0x${'1f'.repeat(32)}`;

it('has no chains by default', () => {
  expect(readChainPusherConfig({}).chains).toEqual([]);
});

it('takes the key from its variable, or from the file that its variable names', () => {
  const own = readChainPusherConfig({ CHAINS_FILE, KEY: key });
  const other = readChainPusherConfig({ CHAINS_FILE, KEY_FILE: file('key', `${key}\n`) });
  expect([own, other].map(({ chains }) => chains[0]?.signerKey)).toEqual([key, key]);
});

it.each([
  ['missing', {}],
  ['not a key', { KEY: 'hunter2' }],
])('refuses to start with a key that is %s, and does not print it', (_what, env) => {
  const read = () => readChainPusherConfig({ CHAINS_FILE, ...env });
  expect(read).toThrow('The chain local needs a signer: set KEY, or KEY_FILE');
  expect(read).not.toThrow('hunter2');
});

it('refuses to start with a key file that is not there', () => {
  expect(() => readChainPusherConfig({ CHAINS_FILE, KEY_FILE: join(folder, 'absent') })).toThrow('KEY_FILE');
});
