import { expect, it } from 'vitest';
import { decodeUntrusted, encodeBody } from './body.js';

it('measures bodies in bytes', () => {
  expect(encodeBody('ää', 6)).toBe('"ää"');
  expect(() => encodeBody('äää', 6)).toThrow(expect.objectContaining({ code: 'body_too_large' }));
  expect(encodeBody(undefined, 4)).toBe('null');
});

it('refuses polluting keys and numbers that are none', () => {
  for (const body of ['{"__proto__":{}}', '{"a":1e400}'])
    expect(() => decodeUntrusted(body)).toThrow(expect.objectContaining({ code: 'validation_failed' }));
  expect(decodeUntrusted('{"a":1}')).toEqual({ a: 1 });
});
