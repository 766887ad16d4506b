import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type ServerOptions, serverOf } from '../src/server/find-server.js';

const url = 'http://127.0.0.1:4321';
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orrery-server-'));
  await writeFile(join(folder, 'url'), `${url}\n`);
  await writeFile(join(folder, 'api-key'), 'stored\n');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const find = (options: ServerOptions, env: Record<string, string> = {}) =>
  serverOf(options, {
    env: { ORRERY_DATA_DIR: folder, ...env },
    write: () => undefined,
    note: () => undefined,
    confirm: async () => false,
  });

describe('a command finds its server', () => {
  it('in the folder of the all-in-one, address and key', async () => {
    const keyFrom = `the file ${join(folder, 'api-key')}`;
    expect(await find({})).toEqual({ url, key: 'stored', keyFrom });
    expect(await find({}, { PORT: '5000' })).toEqual({ url, key: 'stored', keyFrom });
  });

  it('in the environment, and before that in its options', async () => {
    const env = { ORRERY_URL: 'https://orrery.example/', ORRERY_KEY: 'of the environment' };
    expect(await find({}, env)).toEqual({
      url: 'https://orrery.example',
      key: env.ORRERY_KEY,
      keyFrom: 'the variable ORRERY_KEY',
    });
    const options = { url: 'http://10.0.0.1', key: 'given' };
    expect(await find(options, env)).toEqual({ ...options, keyFrom: '--key' });
  });

  it('where nothing is stored, at the port that a server would take', async () => {
    const env = { ORRERY_DATA_DIR: join(folder, 'nothing') };
    const options = { key: 'given' };
    expect(await find(options, env)).toMatchObject({ url: 'http://127.0.0.1:3000', key: 'given' });
    expect(await find(options, { ...env, PORT: '5000' })).toMatchObject({
      url: 'http://127.0.0.1:5000',
      key: 'given',
    });
    await expect(find({}, env)).rejects.toThrow(
      /^There is no key in .*: run `npm start` here first, pass --key/,
    );
  });

  it('and sends the stored key to no other machine', async () => {
    expect(await find({ url: 'http://localhost:1234' })).toMatchObject({ key: 'stored' });
    await expect(find({ url: 'https://orrery.example' })).rejects.toThrow(
      `The key in ${folder} is not for https://orrery.example: pass --key or set ORRERY_KEY.`,
    );
  });

  it('and sends no other key to an address that only the folder names, unless that is this machine', async () => {
    const planted = await mkdtemp(join(tmpdir(), 'orrery-planted-'));
    onTestFinished(() => rm(planted, { recursive: true }));
    const at = async (address: string, options: ServerOptions, env = {}) => {
      await writeFile(join(planted, 'url'), address);
      return find(options, { ORRERY_DATA_DIR: planted, ...env });
    };
    const there = 'https://elsewhere.example';
    const refused = `is not sent to ${there}, which ${join(planted, 'url')} alone names: pass --url or set ORRERY_URL.`;
    await expect(at(there, {}, { ORRERY_KEY: 'k' })).rejects.toThrow(
      `The key of the variable ORRERY_KEY ${refused}`,
    );
    await expect(at(there, { key: 'k' })).rejects.toThrow(`The key of --key ${refused}`);
    expect(await at(there, { key: 'k', url: there })).toMatchObject({ url: there, key: 'k' });
    expect(await at(there, { key: 'k' }, { ORRERY_URL: there })).toMatchObject({ url: there, key: 'k' });
    for (const here of ['http://0.0.0.0:3000', 'http://localhost:3000', 'http://[::1]:3000'])
      expect(await at(here, { key: 'k' })).toMatchObject({ url: here, key: 'k' });
  });

  it('by an address, not by a name', async () => {
    for (const address of [
      'localhost:3000',
      'http://a b',
      'http://',
      'http://user:password@host',
      'http://h:99999',
    ])
      await expect(find({ url: address })).rejects.toThrow('is no address of a server');
  });

  it('and says so where a key has characters that no header can hold', async () => {
    await expect(find({ key: 'orrery_abc…' })).rejects.toThrow(
      'The key of --key has characters that no key has: copy it anew.',
    );
  });
});
