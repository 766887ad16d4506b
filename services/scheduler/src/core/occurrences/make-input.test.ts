import { expect, it } from 'vitest';
import { makeInput } from './make-input.js';

const schedule = {
  input: null,
  definition_hash: null,
  cron_state: { counter: 1, scheduledAt: '1970-01-01T00:00:00.000Z', result: { high: 7 } },
  deployment: 'd',
  event: 'e',
  world_address: 'w',
};
const moment = { counter: 2, scheduledAt: 60_000, now: 61_500 };

it('is empty without a template', () => {
  expect(makeInput(schedule, moment)).toEqual({});
});

it('is made of what the occurrence tells its template', () => {
  const names = [
    'counter',
    'scheduledAt',
    'walletAddress',
    'timestamp',
    'date',
    'unix',
    'deployment',
    'event',
  ];
  const input = Object.fromEntries(
    [...names, 'world', 'cronState.result.high'].map((name) => [name, `{{ ${name} }}`]),
  );
  expect(makeInput({ ...schedule, input }, moment)).toEqual({
    counter: 2,
    scheduledAt: '1970-01-01T00:01:00.000Z',
    walletAddress: null,
    timestamp: '1970-01-01T00:01:01.500Z',
    date: '1970-01-01',
    unix: 61,
    deployment: 'd',
    event: 'e',
    world: 'w',
    'cronState.result.high': 7,
  });
});

it('is remembered compiled by the hash of its definition', () => {
  const known = { ...schedule, definition_hash: 'a hash', input: { n: '{{ counter }}' } };
  expect(makeInput(known, moment)).toEqual({ n: 2 });
  expect(makeInput({ ...known, input: { n: 'another' } }, moment)).toEqual({ n: 2 });
});

it('is remembered as long as those used since then are not too large', () => {
  const use = (hash: string, input: object) =>
    makeInput({ ...schedule, definition_hash: hash, input: input as never }, moment);
  const text = 'long '.repeat(10_000);
  use('small', { n: '{{ counter }}' });
  for (let n = 1; n <= 30; n += 1) use(`large ${n}`, { text });
  expect(use('small', { n: 'another' })).toEqual({ n: 'another' });
  expect(use('large 1', { n: 'another' })).toEqual({ n: 'another' });
  expect(use('large 30', { n: 'another' })).toEqual({ text });
});

it.each([{ n: '{{ 1 / 0 }}' }, { n: '{{ nothing }}' }])('%j fails', (input) => {
  expect(() => makeInput({ ...schedule, input }, moment)).toThrow(
    expect.objectContaining({ code: 'template_failed' }),
  );
});
