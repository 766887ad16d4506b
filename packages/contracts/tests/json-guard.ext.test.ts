import { expect, it } from 'vitest';
import { findUnsafeJson } from '../src/json/json.js';

/** The largest body of an execution: what is parsed for a caller is guarded, too. */
const BYTES = 436 * 1024;
const ROUNDS = 21;

const filled = (part: (index: number) => unknown): string => {
  const size = JSON.stringify(part(1000)).length + 1;
  return JSON.stringify({ input: { list: Array.from({ length: BYTES / size }, (_, at) => part(at)) } });
};

const shapes = {
  'one text': JSON.stringify({ input: { text: 'x'.repeat(BYTES) } }),
  'one text beyond ASCII': JSON.stringify({ input: { text: 'ü€'.repeat(BYTES / 5) } }),
  texts: filled((at) => `text ${at}`),
  numbers: filled((at) => at),
  lists: filled(() => [1]),
  'empty lists': filled(() => []),
  objects: filled((at) => ({ a: at, b: 'x' })),
  keys: JSON.stringify({
    input: Object.fromEntries(Array.from({ length: 30_000 }, (_, at) => [`k${at}`, at])),
  }),
  'a wrong key at the end': filled((at) => [at]).replace(/\]\}\}$/, ',{"constructor":1}]}}'),
};

const msOf = (act: () => unknown): number => {
  const startedAt = performance.now();
  act();
  return performance.now() - startedAt;
};

/** The quickest of each, taken in turns: what else the machine does makes both slower, or neither. */
function quickestMs(...acts: (() => unknown)[]): number[] {
  const rounds = Array.from({ length: ROUNDS }, () => acts.map(msOf));
  return acts.map((_, at) => Math.min(...rounds.map((round) => round[at] ?? Number.POSITIVE_INFINITY)));
}

it.each(Object.entries(shapes))(
  'guarding %s costs no more than parsing it, with room for a busy machine',
  (name, text) => {
    const value: unknown = JSON.parse(text);
    const [parse = 0, guard = 0] = quickestMs(
      () => JSON.parse(text),
      () => findUnsafeJson(value),
    );
    process.stdout.write(`${name}: parse ${parse.toFixed(2)} ms, guard ${guard.toFixed(2)} ms\n`);
    expect(guard).toBeLessThan(parse * 2 + 0.5);
  },
);
