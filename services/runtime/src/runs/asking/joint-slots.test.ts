import fc from 'fast-check';
import { expect, it } from 'vitest';
import { JointSlots } from './joint-slots.js';

const settled = () => new Promise((resolve) => setImmediate(resolve));
const piece = fc.record({
  bounds: fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('x', 'y')),
  isFirst: fc.boolean(),
  leaves: fc.integer({ min: 0, max: 9 }).map((one) => one === 0),
});
type Piece = typeof piece extends fc.Arbitrary<infer T> ? T : never;

/** Begins all that may begin; what is under way ends when the test says so. */
function begin(work: readonly Piece[], most: number) {
  const slots = new JointSlots();
  const waiting = new Set(work);
  const underWay: { readonly bounds: readonly string[]; readonly end: () => void }[] = [];
  for (const one of work) {
    const leaving = new AbortController();
    const bounds = one.bounds.map((name) => ({ name, most }));
    const run = slots.run({ bounds, isFirst: one.isFirst }, leaving.signal, () => {
      waiting.delete(one);
      return new Promise<void>((end) => underWay.push({ bounds: one.bounds, end }));
    });
    run.catch(() => waiting.delete(one));
    if (one.leaves) leaving.abort(new Error('gone'));
  }
  const count = (name: string) => underWay.filter(({ bounds }) => bounds.includes(name)).length;
  return { waiting, underWay, count };
}

it('run all work, never more at once than a bound has slots, and let none wait whose slots are free', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(piece, { maxLength: 25 }),
      fc.integer({ min: 1, max: 3 }),
      async (work, most) => {
        const { waiting, underWay, count } = begin(work, most);
        await settled();
        while (underWay.length > 0) {
          for (const name of ['a', 'b', 'c', 'x', 'y']) expect(count(name)).toBeLessThanOrEqual(most);
          for (const { bounds } of waiting) expect(Math.max(...bounds.map(count))).toBe(most);
          underWay.shift()?.end();
          await settled();
        }
        expect(waiting.size).toBe(0);
      },
    ),
    { numRuns: 50 },
  ));

it('give the next slots to work that is to be first, in the order in which it came', async () => {
  const slots = new JointSlots();
  const started: string[] = [];
  const ends: (() => void)[] = [];
  const givingUp = new AbortController();
  const asked = ['a', 'a', 'b', 'b first', 'a first', 'c first'].map((name, at) => {
    const bounds = [
      { name: name.slice(0, 1), most: 9 },
      { name: 'all', most: 1 },
    ];
    const { signal } = name === 'a first' ? givingUp : new AbortController();
    const work = () => {
      started.push(`${name} ${at}`);
      return new Promise<void>((resolve) => ends.push(resolve));
    };
    return slots.run({ bounds, isFirst: name.endsWith('first') }, signal, work).catch(() => undefined);
  });
  givingUp.abort();
  for (let done = 0; done < 5; done += 1) {
    await settled();
    ends.shift()?.();
  }
  await Promise.all(asked);
  expect(started).toEqual(['a 0', 'b first 3', 'c first 5', 'a 1', 'b 2']);
});
