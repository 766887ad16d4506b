import { ServiceError } from '@orrery/contracts';
import { expect, it } from 'vitest';
import { modelAt } from '../../core/prompting/ai.test-support.js';
import { CallSlots, MAX_WAITING, type SlotCall } from './call-limits.js';

const never = new AbortController().signal;
const settled = () => new Promise((resolve) => setImmediate(resolve));
const model = modelAt('http://a/v1', { maxConcurrency: 1 });
const asking = (more: Partial<SlotCall> = {}): SlotCall => ({
  model,
  deployment: '0x1',
  accountId: 1,
  isHolding: false,
  isRepeated: false,
  ...more,
});

/** Calls that end when a test says so; `codes` are those of the refused ones. */
function openSlots(perDeployment = Number.POSITIVE_INFINITY) {
  const slots = new CallSlots(perDeployment);
  const codes: string[] = [];
  const ends: (() => void)[] = [];
  const begun: SlotCall[] = [];
  const call = (more: Partial<SlotCall> = {}, signal = never) => {
    const asked = asking(more);
    const answer = slots.run(asked, signal, () => {
      begun.push(asked);
      return new Promise<void>((resolve) => ends.push(resolve));
    });
    answer.catch((error: unknown) => codes.push(error instanceof ServiceError ? error.code : 'gone'));
  };
  const calls = (count: number, more?: Partial<SlotCall>) => {
    for (let made = 0; made < count; made += 1) call(more);
  };
  const endNext = async () => {
    ends.shift()?.();
    await settled();
  };
  return { slots, call, calls, codes, ends, endNext, begun };
}

it('refuses what would make more than 100 calls of an account wait for a model', async () => {
  const { slots, calls, codes, ends, endNext } = openSlots();
  calls(1 + MAX_WAITING + 49);
  await settled();
  expect(codes).toEqual(Array.from({ length: 49 }, () => 'too_many_waiting'));
  expect(() => slots.refuseCrowd(1, 'racing/large')).toThrow(
    expect.objectContaining({ code: 'too_many_waiting', facts: expect.objectContaining({ limit: 100 }) }),
  );
  await endNext();
  slots.refuseCrowd(1, 'racing/large');
  calls(2);
  await settled();
  expect(codes).toHaveLength(50);
  while (ends.length > 0) await endNext();
  slots.refuseCrowd(1, 'racing/large');
});

it('counts those that wait for a slot of their deployment', async () => {
  const { calls, codes } = openSlots(1);
  calls(1 + MAX_WAITING + 1, { model: modelAt('http://a/v1') });
  await settled();
  expect(codes).toEqual(['too_many_waiting']);
});

it('lets any number begin at once where nothing bounds them', async () => {
  const { calls, codes, ends } = openSlots();
  calls(900, { model: modelAt('http://a/v1') });
  await settled();
  expect([codes.length, ends.length]).toEqual([0, 900]);
});

it('refuses neither other accounts nor executions that have called the model before', async () => {
  const { call, calls, codes } = openSlots();
  calls(1 + MAX_WAITING);
  call({ accountId: 2 });
  call({ isRepeated: true });
  call({ isHolding: true });
  await settled();
  expect(codes).toEqual([]);
});

it('counts nobody who has gone', async () => {
  const { call, calls, codes } = openSlots();
  const leaving = new AbortController();
  calls(MAX_WAITING);
  call({}, leaving.signal);
  leaving.abort(new Error('gone'));
  await settled();
  calls(1);
  await settled();
  expect(codes).toEqual(['gone']);
});

it.each([
  ['the calls of a deployment', 1, {}],
  ['the calls of a model', Number.POSITIVE_INFINITY, { maxConcurrency: 1 }],
])('lets calls that hold instances go first where %s are bounded', async (_, perDeployment, bounds) => {
  const { call, begun, endNext } = openSlots(perDeployment);
  const bounded = modelAt('http://a/v1', bounds);
  for (const isHolding of [false, false, true, false]) call({ model: bounded, isHolding });
  for (let ended = 0; ended < 3; ended += 1) await endNext();
  expect(begun.map(({ isHolding }) => isHolding)).toEqual([false, true, false, false]);
});

it('takes free slots of a deployment and a model in the same turn', async () => {
  const { call, begun, endNext } = openSlots(2);
  const bounded = modelAt('http://a/v1', { maxConcurrency: 3 });
  for (const deployment of ['0x1', '0x1', '0x1', '0x2', '0x2']) call({ model: bounded, deployment });
  const deployments = () => begun.map(({ deployment }) => deployment);
  expect(deployments()).toEqual(['0x1', '0x1', '0x2']);
  await endNext();
  expect(deployments()).toEqual(['0x1', '0x1', '0x2', '0x1']);
  await endNext();
  expect(deployments()).toEqual(['0x1', '0x1', '0x2', '0x1', '0x2']);
});

it('lets a call that holds instances go before all, also where its deployment waits for the model already', async () => {
  const { call, begun, endNext } = openSlots(1);
  for (const deployment of ['0x2', '0x3', '0x1']) call({ deployment });
  call({ isHolding: true });
  await endNext();
  expect(begun.map(({ deployment, isHolding }) => [deployment, isHolding])).toEqual([
    ['0x2', false],
    ['0x1', true],
  ]);
});

it('keeps no slot of a deployment for a call that waits for its model', async () => {
  const { call, begun, endNext } = openSlots(1);
  call({ deployment: '0x2' });
  call();
  call({ model: modelAt('http://b/v1') });
  expect(begun.map(({ deployment }) => deployment)).toEqual(['0x2', '0x1']);
  for (let ended = 0; ended < 2; ended += 1) await endNext();
  expect(begun).toHaveLength(3);
});
