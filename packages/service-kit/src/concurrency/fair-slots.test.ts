import { expect, it } from 'vitest';
import { FairSlots } from './fair-slots.js';

const never = new AbortController().signal;
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Work that ends when the test says so. */
function createWork() {
  const started: string[] = [];
  const ends: (() => void)[] = [];
  const work = (name: string) => () => {
    started.push(name);
    return new Promise<void>((resolve) => ends.push(resolve));
  };
  const endNext = async () => {
    ends.shift()?.();
    await settled();
  };
  return { started, work, endNext };
}

it('gives the slots to those who wait in turn, not to who came first with much work', async () => {
  const slots = new FairSlots(1);
  const { started, work, endNext } = createWork();
  const runs = ['a', 'a', 'a', 'b', 'c', 'b'].map((who, at) => slots.run(who, never, work(`${who}${at}`)));
  await settled();
  for (let done = 0; done < 6; done += 1) await endNext();
  await Promise.all(runs);
  expect(started).toEqual(['a0', 'a1', 'b3', 'c4', 'a2', 'b5']);
});

it('runs as many at once as there are slots', async () => {
  const slots = new FairSlots(2);
  const { started, work, endNext } = createWork();
  const runs = ['a', 'b', 'c'].map((who) => slots.run(who, never, work(who)));
  await settled();
  expect(started).toEqual(['a', 'b']);
  await endNext();
  expect(started).toEqual(['a', 'b', 'c']);
  await endNext();
  await endNext();
  await Promise.all(runs);
});

it('forgets who gives up waiting, and passes the slot on when work fails', async () => {
  const slots = new FairSlots(1);
  const { started, work, endNext } = createWork();
  const failing = slots.run('a', never, async () => {
    await settled();
    throw new Error('failed');
  });
  const givingUp = new AbortController();
  const given = slots.run('b', givingUp.signal, work('b'));
  const waiting = slots.run('c', never, work('c'));
  givingUp.abort(new Error('gone'));
  await expect(given).rejects.toThrow('gone');
  await expect(failing).rejects.toThrow('failed');
  await settled();
  expect(started).toEqual(['c']);
  await endNext();
  await waiting;
  await expect(slots.run('d', AbortSignal.abort(new Error('late')), work('d'))).rejects.toThrow('late');
});
