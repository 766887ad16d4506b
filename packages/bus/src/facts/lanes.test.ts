import { expect, it } from 'vitest';
import type { FactDelivery } from '../transport.js';
import { createLanes, type LaneOutcome } from './lanes.js';

const clock = { now: () => 1000, sleep: async () => undefined };
const sentBack: { seq: number; delayMs: number; counts: boolean }[] = [];

const delivery = (seq: number, key: string | undefined): FactDelivery => ({
  seq,
  key,
  id: String(seq),
  attempt: 1,
  headers: {},
  body: '{}',
  done: () => undefined,
  sendBack: (delayMs, counts) => sentBack.push({ seq, delayMs, counts }),
});

/** Handlers that end when the test says so. */
function controlled() {
  const started: number[] = [];
  const ends = new Map<number, (outcome: LaneOutcome) => void>();
  const lanes = createLanes(({ seq }) => {
    started.push(seq);
    return new Promise((resolve) => ends.set(seq, resolve));
  }, clock);
  const end = (seq: number, outcome: LaneOutcome = 'over') => ends.get(seq)?.(outcome);
  return { lanes, started, end };
}

it('handles one delivery of a key at a time, and different keys at once', async () => {
  const { lanes, started, end } = controlled();
  const work = [lanes(delivery(1, 'a')), lanes(delivery(2, 'a')), lanes(delivery(3, 'b'))];
  await Promise.resolve();
  expect(started).toEqual([1, 3]);
  end(1);
  await work[0];
  await Promise.resolve();
  expect(started).toEqual([1, 3, 2]);
  end(2);
  end(3);
  await Promise.all(work);
});

it('handles deliveries without a key at once', async () => {
  const { lanes, started } = controlled();
  void lanes(delivery(1, undefined));
  void lanes(delivery(2, undefined));
  expect(started).toEqual([1, 2]);
});

it('sends later deliveries back while an earlier one is away, without counting an attempt', async () => {
  const { lanes, started, end } = controlled();
  const first = lanes(delivery(1, 'a'));
  const second = lanes(delivery(2, 'a'));
  await Promise.resolve();
  end(1, { backInMs: 500 });
  await Promise.all([first, second]);
  expect(started).toEqual([1]);
  expect(sentBack).toEqual([{ seq: 2, delayMs: 520, counts: false }]);

  const third = lanes(delivery(3, 'a'));
  const firstAgain = lanes(delivery(1, 'a'));
  await third;
  expect(started).toEqual([1, 1]);
  end(1);
  await firstAgain;
  const secondAgain = lanes(delivery(2, 'a'));
  await Promise.resolve();
  expect(started).toEqual([1, 1, 2]);
  end(2);
  await secondAgain;
});
