import type { PushRecord } from '@orrery/contracts';
import { expect, it } from 'vitest';
import { createPushWatch } from './watches.js';

const push = (number: number) => ({ number }) as PushRecord;

it('tells each stream of the pushes of its deployment until it ends', () => {
  const watch = createPushWatch();
  const told: string[] = [];
  const leave = watch.follow('a', ({ number }) => told.push(`first ${number}`));
  watch.follow('a', ({ number }) => told.push(`second ${number}`));
  watch.onChanged({ deployment: 'a', pushes: [push(1), push(2)] });
  watch.onChanged({ deployment: 'b', pushes: [push(3)] });
  leave();
  watch.onChanged({ deployment: 'a', pushes: [push(4)] });
  expect(told).toEqual(['first 1', 'first 2', 'second 1', 'second 2', 'second 4']);
});
