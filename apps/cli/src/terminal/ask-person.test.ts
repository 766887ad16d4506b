import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { askPerson } from './ask-person.js';

/** What becomes of a question at a terminal to which this is typed. */
async function answerTo(typed: string, { isTTY = true } = {}): Promise<unknown> {
  const input = Object.assign(new PassThrough(), { isTTY: true });
  const output = Object.assign(new PassThrough(), { isTTY });
  const asked = askPerson('Apply?', input, output).catch((error: unknown) => error);
  await once(output, 'data');
  input.write(typed);
  if (!isTTY) input.end();
  return asked;
}

it('takes a yes for one, and anything else for a no', async () => {
  expect(await answerTo('y\n')).toBe(true);
  expect(await answerTo(' YES\n')).toBe(true);
  expect(await answerTo('\n')).toBe(false);
  expect(await answerTo('yesterday\n')).toBe(false);
});

it('takes Ctrl-D for a no, and ends with Ctrl-C', async () => {
  expect(await answerTo('\u0004')).toBe(false);
  expect(await answerTo('\u0003')).toMatchObject({ exitCode: 130 });
  // The question goes to a file: the terminal itself reads the keys.
  expect(await answerTo('', { isTTY: false })).toBe(false);
  expect(await answerTo('y\n', { isTTY: false })).toBe(true);
});

it('says what to do where nobody is at a terminal', async () => {
  await expect(askPerson('Apply?', new PassThrough(), new PassThrough())).rejects.toThrow(
    'There is nobody to ask: look with --dry-run, then pass --yes.',
  );
});
