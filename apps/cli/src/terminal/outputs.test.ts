import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { lineWriter } from './outputs.js';

/** What is told of an output that fails with this code. */
async function toldOf(code: string): Promise<string[]> {
  const told: string[] = [];
  const output = new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error(code), { code })),
  });
  const write = lineWriter(output, (reason) => void told.push(String(reason)));
  const closed = new Promise((resolve) => output.once('close', resolve));
  write('one');
  write('two');
  await closed;
  return told;
}

it('tells once that a disk is full, and nothing where the reader has left', async () => {
  expect(await toldOf('ENOSPC')).toEqual(['ENOSPC']);
  expect(await toldOf('EPIPE')).toEqual([]);
});
