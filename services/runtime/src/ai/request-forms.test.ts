import { FakeClock } from '@orrery/testing';
import { expect, it } from 'vitest';
import { createFormMemory, formAfterRefusal, formBelow, type RequestForm } from './request-forms.js';

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

it('remembers a lower form by server and model, for an hour', async () => {
  const clock = new FakeClock();
  const memory = createFormMemory(clock);
  expect(memory.formFor(key)).toEqual(best);
  memory.lowered(key, { ...best, output: 'json' });
  expect(memory.formFor({ ...key, definition: 'd2' }).output).toBe('json');
  expect(memory.formFor({ ...key, model: 'n' }).output).toBe('strict');
  expect(memory.formFor({ ...key, baseUrl: 'http://b/v1' }).output).toBe('strict');
  await clock.advance(60 * 60 * 1000);
  expect(memory.formFor(key)).toEqual(best);
});

it('remembers a lower form for one definition alone where the better one works for others', () => {
  const memory = createFormMemory(new FakeClock());
  memory.worked({ ...key, definition: 'd2' }, best);
  memory.lowered(key, { ...best, output: 'json' });
  expect(memory.formFor(key).output).toBe('json');
  expect(memory.formFor({ ...key, definition: 'd2' }).output).toBe('strict');
  memory.lowered(key, { ...best, withSeed: false });
  expect(memory.formFor({ ...key, definition: 'd2' })).toEqual({ ...best, withSeed: false });
});
