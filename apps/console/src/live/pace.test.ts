import { expect, it, onTestFinished, vi } from 'vitest';
import { createPace } from './tail.js';

function paced() {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const groups: number[][] = [];
  return { pace: createPace<number>(100, (items) => groups.push([...items])), groups };
}

it('hands on the first at once and the others together', () => {
  const { pace, groups } = paced();
  pace.add(1);
  expect(groups).toEqual([[1]]);
  pace.add(2);
  pace.add(3);
  expect(groups).toEqual([[1]]);
  vi.advanceTimersByTime(100);
  expect(groups).toEqual([[1], [2, 3]]);
  vi.advanceTimersByTime(500);
  pace.add(4);
  expect(groups).toEqual([[1], [2, 3], [4]]);
});

it('hands on nothing once it was stopped', () => {
  const { pace, groups } = paced();
  pace.add(1);
  pace.add(2);
  pace.stop();
  vi.advanceTimersByTime(500);
  expect(groups).toEqual([[1]]);
});
