import { expect, it } from 'vitest';
import type { FactDelivery } from '../ports/transport.js';
import { createOrderedQueues, type DeliveryOutcome } from './consume.js';

const clock = { now: () => 1000, monotonic: () => 1000, sleep: async () => undefined };
const sentBack: { seq: number; delayMs: number; counts: boolean }[] = [];

const delivery = (seq: number, key: string | undefined): FactDelivery => ({
  seq,
  key,
  id: String(seq),
  tries: 1,
  headers: {},
  body: '{}',
  done: () => undefined,
  sendBack: (delayMs, counts) => sentBack.push({ seq, delayMs, counts }),
});

/** Handlers that end when the test says so. */
function controlled() {
  const started: number[] = [];
  const ends = new Map<number, (outcome: DeliveryOutcome) => void>();
  const queues = createOrderedQueues(({ seq }) => {
    started.push(seq);
    return new Promise((resolve) => ends.set(seq, resolve));
  }, clock);
  const end = (seq: number, outcome: DeliveryOutcome = 'over') => ends.get(seq)?.(outcome);
  return { queues, started, end };
}

it('handles one delivery of a key at a time, and different keys at once', async () => {
  const { queues, started, end } = controlled();
  const work = [queues(delivery(1, 'a')), queues(delivery(2, 'a')), queues(delivery(3, 'b'))];
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
  const { queues, started } = controlled();
  void queues(delivery(1, undefined));
  void queues(delivery(2, undefined));
  expect(started).toEqual([1, 2]);
});

it('sends later deliveries back while an earlier one is away, without counting a try', async () => {
  const { queues, started, end } = controlled();
  const first = queues(delivery(1, 'a'));
  const second = queues(delivery(2, 'a'));
  await Promise.resolve();
  end(1, { backInMs: 500 });
  await Promise.all([first, second]);
  expect(started).toEqual([1]);
  expect(sentBack).toEqual([{ seq: 2, delayMs: 520, counts: false }]);

  const third = queues(delivery(3, 'a'));
  const firstAgain = queues(delivery(1, 'a'));
  await third;
  expect(started).toEqual([1, 1]);
  end(1);
  await firstAgain;
  const secondAgain = queues(delivery(2, 'a'));
  await Promise.resolve();
  expect(started).toEqual([1, 1, 2]);
  end(2);
  await secondAgain;
});
