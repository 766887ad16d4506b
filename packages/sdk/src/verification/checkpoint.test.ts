import { describe, expect, it } from 'vitest';
import { noteOf, signature, signer } from '../../tests/signed-notes.js';
import { CheckpointError, readCheckpoint, requireLater } from './checkpoint.js';

const operator = signer('orrery.example');
const next = signer('orrery.example');
const stranger = signer('orrery.example');
const ROOT = Buffer.alloc(32, 7);
const TEXT = `orrery.example/0xabc/1\n12\n${ROOT.toString('base64')}\n`;
const LOST = `orrery.example/0xabc/2\n9\n${ROOT.toString('base64')}\nlost 12 ${'ab'.repeat(32)}\n`;

const faultOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => (error instanceof CheckpointError ? error.fault : error),
  );

describe('a checkpoint', () => {
  it('is read where a trusted key has signed it', async () => {
    expect(await readCheckpoint(noteOf(TEXT, operator), [operator.verifier])).toEqual({
      origin: 'orrery.example/0xabc/1',
      size: 12,
      rootHash: ROOT.toString('hex'),
      lost: null,
    });
    const { lost } = await readCheckpoint(noteOf(LOST, operator), [operator.verifier]);
    expect(lost).toEqual({ seq: 12, hash: 'ab'.repeat(32) });
  });

  it.each([
    ['the old key', [operator]],
    ['the new key', [next]],
    ['both', [operator, next]],
  ])('with the signatures of two keys is read by who trusts %s', async (_whom, trusted) => {
    const keys = trusted.map(({ verifier }) => verifier);
    expect(await readCheckpoint(noteOf(TEXT, next, operator), keys)).toMatchObject({ size: 12 });
  });

  it('is refused where none of the keys has signed it, or the signature is of another text', async () => {
    const forged = `${TEXT.replace('\n12\n', '\n13\n')}\n${signature(operator, TEXT)}`;
    expect(await faultOf(readCheckpoint(noteOf(TEXT, stranger), [operator.verifier]))).toBe('unsigned');
    expect(await faultOf(readCheckpoint(noteOf(TEXT, operator), []))).toBe('unsigned');
    expect(await faultOf(readCheckpoint(forged, [operator.verifier]))).toBe('unsigned');
    // One that is right does not make up for one that is wrong.
    const half = `${noteOf(TEXT, operator)}${signature(next, 'another text\n')}`;
    expect(await faultOf(readCheckpoint(half, [operator.verifier, next.verifier]))).toBe('unsigned');
  });

  it.each([
    ['nothing', ''],
    ['no signature', TEXT],
    ['no size', TEXT.replace('\n12\n', '\n')],
    ['a size of zero', TEXT.replace('\n12\n', '\n0\n')],
    ['a size with a zero before it', TEXT.replace('\n12\n', '\n012\n')],
    ['a size that no number holds', TEXT.replace('\n12\n', `\n${'9'.repeat(20)}\n`)],
    ['a short root', `orrery.example/0xabc/1\n12\nAAAA\n`],
    ['an empty line', TEXT.replace('\n12\n', '\n\n12\n')],
    ['much text', `${'a'.repeat(70_000)}${TEXT}`],
  ])('with %s is none', async (_what, text) => {
    const note = text === '' || text === TEXT ? text : noteOf(text, operator);
    expect(await faultOf(readCheckpoint(note, [operator.verifier]))).toBe('malformed');
  });

  it.each(['', 'orrery.example', 'orrery.example+00000000+AAAA', operator.verifier.replace(/\+A\S/, '+CA')])(
    'is not read with "%s" as a key',
    async (key) => {
      await expect(readCheckpoint(noteOf(TEXT, operator), [key])).rejects.toThrow(/is no public key/);
    },
  );
});

describe('a later checkpoint', () => {
  const earlier = { origin: 'orrery.example/0xabc/1', size: 12, rootHash: '', lost: null };
  const faultAfter = (later: Partial<typeof earlier>) => {
    try {
      requireLater(earlier, { ...earlier, ...later });
      return undefined;
    } catch (error) {
      return (error as CheckpointError).fault;
    }
  };

  it.each([
    [undefined, {}],
    [undefined, { size: 13 }],
    ['shorter', { size: 11 }],
    ['lost', { origin: 'orrery.example/0xabc/2', size: 50 }],
    ['other_journal', { origin: 'orrery.example/0xabd/1' }],
    ['other_journal', { origin: 'orrery.test/0xabc/1' }],
  ])('is %s', (fault, later) => {
    expect(faultAfter(later)).toBe(fault);
  });

  it('says what its generation lost', () => {
    const lost = { seq: 12, hash: 'ab'.repeat(32) };
    const later = { ...earlier, origin: 'orrery.example/0xabc/2', size: 9, lost };
    expect(() => requireLater(earlier, later)).toThrow(/entries up to 12, the last with the hash abab/);
  });
});
