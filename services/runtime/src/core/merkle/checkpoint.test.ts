import { createPublicKey, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { originOf, parseSigningKeys, signCheckpoint } from './checkpoint.js';

const SEED = '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60';
/** The public key of that seed in RFC 8032, 7.1. */
const PUBLIC = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a';
const OTHER = '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb';

const head = {
  origin: originOf('orrery.example', '0xabc', 1),
  size: 3,
  root: Buffer.alloc(32, 7),
  lost: null,
};

const keysOf = (text: string) => parseSigningKeys(text) ?? [];

describe('keys', () => {
  it('are named by their host, an id and the public key', () => {
    const [key] = keysOf(`orrery.example+${SEED}`);
    const [name, id, ...typed] = key?.verifier.split('+') ?? [];
    expect(name).toBe('orrery.example');
    expect(id).toMatch(/^[0-9a-f]{8}$/);
    expect(Buffer.from(typed.join('+'), 'base64').toString('hex')).toBe(`01${PUBLIC}`);
  });

  it('are those of another implementation', () => {
    // The example of Go's package golang.org/x/mod/sumdb/note.
    const seed = Buffer.from('AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz', 'base64').subarray(1);
    const [key] = keysOf(`PeterNeumann+${seed.toString('hex')}`);
    expect(key?.verifier).toBe('PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW');
  });

  it.each([
    ['lines', `a.example+${SEED}\n\na.example+${OTHER}\n`, 2],
    ['commas', `a.example+${SEED},a.example+${OTHER}`, 2],
    ['a port', `127.0.0.1:3000+${SEED}`, 1],
    ['nothing', ' \n', 0],
  ])('in %s are read', (_what, text, count) => {
    expect(keysOf(text)).toHaveLength(count);
  });

  it.each([
    ['two hosts', `a.example+${SEED}\nb.example+${OTHER}`],
    ['a short seed', 'a.example+abcd'],
    ['no host', `+${SEED}`],
    ['a path', `a.example/worlds+${SEED}`],
    ['too many', Array.from({ length: 9 }, () => `a.example+${SEED}`).join()],
  ])('with %s are refused', (_what, text) => {
    expect(parseSigningKeys(text)).toBeUndefined();
  });
});

describe('a checkpoint', () => {
  it('is a signed note of origin, size and root', () => {
    const [key] = keysOf(`orrery.example+${SEED}`);
    const note = signCheckpoint(head, key ? [key] : []);
    const [text = '', signatures = ''] = note.split('\n\n');
    expect(text).toBe(`orrery.example/0xabc/1\n3\n${head.root.toString('base64')}`);
    const [, signature = ''] = /^\u2014 orrery\.example (\S+)\n$/.exec(signatures) ?? [];
    const bytes = Buffer.from(signature, 'base64');
    expect(bytes.subarray(0, 4)).toEqual(key?.id);
    const spki = Buffer.from(`302a300506032b6570032100${PUBLIC}`, 'hex');
    const publicKey = createPublicKey({ key: spki, format: 'der', type: 'spki' });
    expect(verify(null, Buffer.from(`${text}\n`), publicKey, bytes.subarray(4))).toBe(true);
  });

  it('has a signature of each key, the newest first', () => {
    const keys = keysOf(`a.example+${SEED} a.example+${OTHER}`);
    const ids = signCheckpoint(head, keys)
      .split('\n\u2014 a.example ')
      .slice(1)
      .map((one) => Buffer.from(one, 'base64').subarray(0, 4));
    expect(ids).toEqual(keys.map(({ id }) => id));
  });

  it('names the end that its generation lost', () => {
    const lost = { seq: 120, hash: 'ab'.repeat(32) };
    const [, , , line] = signCheckpoint({ ...head, lost }, keysOf(`a.example+${SEED}`)).split('\n');
    expect(line).toBe(`lost 120 ${lost.hash}`);
  });
});
