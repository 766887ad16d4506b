import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readRuntimeConfig } from './config.js';

const folder = mkdtempSync(join(tmpdir(), 'orrery-keys-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (name: string, text: string) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

const [NEW, OLD] = ['11', '22'].map((byte) => `orrery.example+${byte.repeat(32)}`);

describe('queries that run at once', () => {
  it('are some 1 to 4 by the cores, or as many as are set', () => {
    expect([1, 2, 3, 4]).toContain(readRuntimeConfig({}).queriesAtOnce);
    expect(readRuntimeConfig({ RUNTIME_QUERIES_AT_ONCE: '12' }).queriesAtOnce).toBe(12);
    expect(() => readRuntimeConfig({ RUNTIME_QUERIES_AT_ONCE: '0' })).toThrow(/RUNTIME_QUERIES_AT_ONCE/);
  });
});

describe('the keys that sign checkpoints', () => {
  it('are none by default', () => {
    expect(readRuntimeConfig({}).signingKeys).toEqual([]);
  });

  it('come from the variable or from a file, in their order', () => {
    const own = readRuntimeConfig({ ORRERY_SIGNING_KEY: `${NEW},${OLD}` });
    const other = readRuntimeConfig({ ORRERY_SIGNING_KEY_FILE: file('keys', `${NEW}\n${OLD}\n`) });
    const named = [own, other].map(({ signingKeys }) => signingKeys.map(({ verifier }) => verifier));
    expect(named[0]).toEqual(named[1]);
    expect(new Set(named[0]).size).toBe(2);
  });

  it.each([
    ['no keys', { ORRERY_SIGNING_KEY: 'hunter2' }, /ORRERY_SIGNING_KEY \(not valid; expected keys such as/],
    [
      'an empty file',
      { ORRERY_SIGNING_KEY_FILE: file('empty', '\n') },
      /ORRERY_SIGNING_KEY_FILE \(not valid; expected keys such as/,
    ],
    [
      'a file that is not there',
      { ORRERY_SIGNING_KEY_FILE: join(folder, 'absent') },
      /file of ORRERY_SIGNING_KEY_FILE cannot be read \(ENOENT\): correct its path/,
    ],
  ])('are not read from %s, and not printed', (_what, env, reason) => {
    expect(() => readRuntimeConfig(env)).toThrow(reason);
    expect(() => readRuntimeConfig(env)).not.toThrow('hunter2');
  });
});
