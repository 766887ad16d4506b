import { ServiceError } from '@orrery/contracts';
import type { Clock } from '@orrery/service-kit';
import { expect, it } from 'vitest';
import type { Fact } from '../ports/transport.js';
import { createAppend } from './append.js';
import type { Inbox } from './inbox.js';

const atOnce = { now: () => 0, monotonic: () => 0, sleep: async () => undefined } as unknown as Clock;

/** A server that notes what reaches it; `refuse` answers the n-th arrival of a fact with an error. */
function append(refuse: (id: string, arrival: number) => boolean = () => false) {
  const arrived: string[] = [];
  let [underWay, most] = [0, 0];
  const request = async (_subject: string, { data }: { data: Uint8Array }) => {
    const id = data.toString();
    arrived.push(id);
    underWay += 1;
    most = Math.max(most, underWay);
    await new Promise(setImmediate);
    underWay -= 1;
    if (refuse(id, arrived.filter((one) => one === id).length)) throw new ServiceError('deadline_exceeded');
    return { string: () => '{"stream":"S","seq":1}' };
  };
  const inbox = { request } as unknown as Pick<Inbox, 'request'>;
  const streams = { ensureStream: async () => undefined };
  const store = createAppend({
    connection: { requireUp: () => undefined, named: (subject: string) => subject },
    inbox,
    streams,
    clock: atOnce,
  });
  return { arrived, most: () => most, store: (facts: readonly Fact[]) => store('orrery.facts.test', facts) };
}

const facts = (key: string, count: number): Fact[] =>
  Array.from({ length: count }, (_, index) => {
    const id = `${key}${index + 1}`;
    return { id, key, headers: {}, body: id };
  });

it('sends the facts of a key in their order, without waiting for each', async () => {
  const { store, arrived, most } = append();
  const given = facts('a', 200);
  expect(await store(given)).toEqual(given.map(() => undefined));
  expect(arrived).toEqual(given.map(({ id }) => id));
  expect(most()).toBe(64);
});

it('sends again from the first that failed on, and leaves other keys alone', async () => {
  const { store, arrived } = append((id, arrival) => id === 'a3' && arrival === 1);
  const given = [...facts('a', 4), ...facts('b', 2)];
  expect(await store(given)).toEqual(given.map(() => undefined));
  expect(arrived.filter((id) => id.startsWith('a'))).toEqual(['a1', 'a2', 'a3', 'a4', 'a3', 'a4']);
  expect(arrived.filter((id) => id.startsWith('b'))).toEqual(['b1', 'b2']);
});

it('says of all facts after one that failed for good that they are not stored', async () => {
  const { store } = append((id) => id === 'a3');
  const outcomes = await store([...facts('a', 70), ...facts('b', 1)]);
  expect(outcomes.map((error) => error?.code)).toEqual([
    ...[undefined, undefined],
    ...Array.from({ length: 68 }, () => 'unavailable'),
    undefined,
  ]);
});
