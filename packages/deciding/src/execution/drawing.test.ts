import { expect, it } from 'vitest';
import { startDrawing } from './drawing.js';
import { decideExecution } from './execute-event.js';
import { executionOf, viewOf } from './execution.test-support.js';

const randomness = { source: 'replayed', seed: '5e'.repeat(32) } as const;
const source = { take: () => randomness };
const rolling = executionOf({ template: { result: { die: '{{ input.draw ? random.int(1, 6) : 0 }}' } } });
const drawn = (draw: boolean) =>
  decideExecution({ ...rolling, input: { draw }, randomness: source }, viewOf());

it('says where random numbers come from once one is drawn, and draws the same ones each time', () => {
  const [one, other] = [drawn(true), drawn(true)];
  expect(one).toMatchObject({ kind: 'succeeded', recorded: { randomness } });
  expect(other).toEqual(one);
  expect(drawn(false)).toMatchObject({ kind: 'succeeded', result: { die: 0 } });
  expect(drawn(false)).not.toHaveProperty('recorded');
});

it('records nothing before a draw', () => {
  const { draws, recorded } = startDrawing(source);
  expect([draws.drawn, recorded()]).toEqual([0, undefined]);
});

it('a failure after a draw says where it came from', () => {
  const template = { result: { die: '{{ random.int(1, 6) + fail("no luck") }}' } };
  const decision = decideExecution({ ...executionOf({ template }), randomness: source }, viewOf());
  expect(decision).toMatchObject({ kind: 'failed', recorded: { randomness } });
});
