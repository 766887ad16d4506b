import { expect, it } from 'vitest';
import { PendingTimers, type TimerName } from './pending-timers.js';

const timer = (id: string, some: Partial<TimerName> = {}): TimerName => ({
  id,
  key: null,
  tree: null,
  ...some,
});

it('the first of those without delay is the next item, in the order in which they were set', () => {
  const timers = new PendingTimers([timer('a', { tree: 1 })]);
  timers.add(timer('later'));
  timers.add(timer('b', { tree: 1 }));
  expect([...timers.next.keys()][0]).toBe('a');
  timers.remove(timer('a'));
  expect([...timers.next.keys()][0]).toBe('b');
  timers.remove(timer('b'));
  expect([...timers.next.keys()][0]).toBeUndefined();
});

it('of one key the last one is pending, and what the database said before does not count', () => {
  const timers = new PendingTimers();
  expect(timers.withKey('k')).toBeUndefined();
  timers.add(timer('new', { key: 'k' }));
  timers.learn('k', timer('old', { key: 'k' }));
  expect(timers.withKey('k')?.id).toBe('new');
  timers.remove(timer('old', { key: 'k' }));
  expect(timers.withKey('k')?.id).toBe('new');
  timers.remove(timer('new', { key: 'k' }));
  expect(timers.withKey('k')).toBeNull();
});

it('remembers which are gone', () => {
  const timers = new PendingTimers();
  timers.remove(timer('a'));
  expect([timers.isGone('a'), timers.isGone('b')]).toEqual([true, false]);
  timers.restore('a');
  expect([timers.isGone('a'), [...timers.next.keys()][0]]).toEqual([false, undefined]);
});

const keys = Array.from({ length: 100_000 }, (_, index) => `key ${index}`);

it('remembers the keys that were freed last, whatever is read meanwhile; others are read again', () => {
  const timers = new PendingTimers();
  for (const key of keys) {
    timers.add(timer(key, { key }));
    timers.remove(timer(key, { key }));
  }
  for (const key of keys) timers.learn(`read ${key}`, null);
  for (const before of ['', 'read '])
    expect(keys.filter((key) => timers.withKey(before + key) === null)).toEqual(keys.slice(80_000));
  expect(timers.withKey('key 0')).toBeUndefined();
  timers.learn('key 0', timer('again', { key: 'key 0' }));
  expect(timers.withKey('key 0')?.id).toBe('again');
});

it('a timer that is gone is not learned from a read that began before', () => {
  const timers = new PendingTimers();
  timers.remove(timer('a', { key: 'k' }));
  timers.learn('k', timer('a', { key: 'k' }));
  expect(timers.withKey('k')).toBeNull();
});
