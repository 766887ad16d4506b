import { describe, expect, it } from 'vitest';
import { type Callable, callOf, type Field, readable } from './try-call.js';

const world: Field = { name: 'worldAddress', in: 'path', required: true };
const limit: Field = { name: 'limit', in: 'query', required: false };
const match: Field = { name: 'If-Match', in: 'header', required: false };
const callable: Callable = {
  method: 'put',
  path: '/api/worlds/{worldAddress}',
  fields: [world, limit, match],
  isKeyed: true,
  isStream: false,
};
const typed = (values: [Field, string][], key = ' orrery_x ', body?: string) => ({
  key,
  values: new Map<Field, string>([[world, 'a/b'], ...values]),
  body,
});

describe('the call of a form', () => {
  it('has what was typed, in its places', () => {
    expect(
      callOf(
        callable,
        typed(
          [
            [limit, '3'],
            [match, '"1"'],
          ],
          undefined,
          '{"a":1}',
        ),
      ),
    ).toEqual({
      url: '/api/worlds/a%2Fb?limit=3',
      init: {
        method: 'PUT',
        headers: { authorization: 'Bearer orrery_x', 'content-type': 'application/json', 'if-match': '"1"' },
        body: '{"a":1}',
      },
    });
    expect(callOf({ ...callable, isKeyed: false }, typed([[limit, '']])).init.headers).toEqual({});
  });

  it('is refused with what to do', () => {
    expect(() => callOf(callable, typed([[world, '']]))).toThrow('Give a value for worldAddress.');
    expect(() => callOf(callable, typed([[world, '..']]))).toThrow('worldAddress cannot be ..');
    expect(() => callOf(callable, typed([], ''))).toThrow('Give an API key');
    expect(() => callOf(callable, typed([], 'clé'))).toThrow('characters that no key has');
    expect(() => callOf(callable, typed([], 'k', '{'))).toThrow('The body is not valid JSON');
  });
});

it('an answer is set out where it is JSON', () => {
  expect(readable('{"a":1}')).toBe('{\n  "a": 1\n}');
  expect(readable('event: x')).toBe('event: x');
});
