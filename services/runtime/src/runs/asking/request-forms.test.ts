import { FakeClock } from '@orrery/testing';
import { expect, it } from 'vitest';
import { formAfterRefusal, formBelow, type RequestForm } from '../../core/prompting/chat-request.js';
import { FormMemory } from './model-decider.js';

const best: RequestForm = {
  output: 'strict',
  tokenLimit: 'max_tokens',
  withTemperature: true,
  withSeed: true,
  withSystemRole: true,
};
const key = { baseUrl: 'http://a/v1', model: 'm', definition: 'd1' };

it('goes down the ladder where a server does not say what it refuses, then down again without a system role', () => {
  const tried: unknown[] = [];
  for (let form: RequestForm | undefined = best; form !== undefined; form = formAfterRefusal(form, undefined))
    tried.push([form.output, form.withSystemRole]);
  const outputs = ['strict', 'json', 'text'];
  expect(tried).toEqual([true, false].flatMap((system) => outputs.map((output) => [output, system])));
});

it('keeps the system role where the output is ignored', () => {
  expect(formBelow(best)).toEqual({ ...best, output: 'json' });
  expect(formBelow({ ...best, output: 'text' })).toBeUndefined();
});

it('leaves out the parameter that a server names, once', () => {
  expect(formAfterRefusal(best, 'max_tokens')).toEqual({ ...best, tokenLimit: 'max_completion_tokens' });
  expect(formAfterRefusal(best, 'temperature')).toEqual({ ...best, withTemperature: false });
  expect(formAfterRefusal(best, 'seed')).toEqual({ ...best, withSeed: false });
  expect(formAfterRefusal({ ...best, withSeed: false }, 'seed')?.output).toBe('json');
  expect(formAfterRefusal(best, 'system')).toEqual({ ...best, withSystemRole: false });
});

const lower = { ...best, output: 'json' } as const;
const other = { ...key, definition: 'd2' };

it('remembers a lower output for the definition, for an hour', async () => {
  const clock = new FakeClock();
  const memory = new FormMemory(clock);
  expect(memory.formFor(key)).toEqual(best);
  memory.lowered(key, lower);
  memory.lowered(key, { ...best, output: 'text' });
  expect(memory.formFor(key).output).toBe('text');
  expect(memory.formFor(other)).toEqual(best);
  await clock.advance(60 * 60 * 1000 + 1);
  expect(memory.formFor(key)).toEqual(best);
});

it('remembers a lower output for the model once a second definition has it too', async () => {
  const clock = new FakeClock();
  const memory = new FormMemory(clock);
  const third = { ...key, definition: 'd3' };
  memory.lowered(key, { ...best, output: 'text' });
  memory.lowered(other, lower);
  expect(memory.formFor(third).output).toBe('json');
  expect(memory.formFor({ ...third, model: 'n' })).toEqual(best);
  expect(memory.formFor({ ...third, baseUrl: 'http://b/v1' })).toEqual(best);
  memory.lowered(other, { ...best, output: 'text' });
  expect(memory.formFor(third).output).toBe('text');
  await clock.advance(60 * 60 * 1000 + 1);
  memory.lowered(third, lower);
  expect(memory.formFor(other)).toEqual(best);
});

it('remembers a lower output for no other definition where the better one works', () => {
  const memory = new FormMemory(new FakeClock());
  memory.worked({ ...key, definition: 'd3' }, best);
  for (const one of [key, other]) memory.lowered(one, lower);
  expect([key, other].map((one) => memory.formFor(one).output)).toEqual(['json', 'json']);
  expect(memory.formFor({ ...key, definition: 'd3' })).toEqual(best);
});

it('remembers the parameters that a server refuses for the whole model', () => {
  const memory = new FormMemory(new FakeClock());
  memory.lowered(key, { ...best, withSeed: false });
  memory.lowered(other, { ...lower, withTemperature: false });
  expect(memory.formFor(key)).toEqual({ ...best, withSeed: false, withTemperature: false });
  expect(memory.formFor(other).output).toBe('json');
});
