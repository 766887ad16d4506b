import { expect, it } from 'vitest';
import { findPlaceholders } from './find-placeholders.js';

const sourcesOf = (text: string): string[] | number => {
  const found = findPlaceholders(text);
  if (!found.ok) return found.start;
  return found.segments.map((segment) => (typeof segment === 'string' ? `'${segment}'` : segment.source));
};

it.each<[string, string[] | number]>([
  ['', []],
  ['plain', ["'plain'"]],
  ['{{a}}', ['a']],
  ['x {{ a }} y {{b}}', ["'x '", ' a ', "' y '", 'b']],
  ['{{ "}}" }}', [' "}}" ']],
  [String.raw`{{ "\"}}" }}!`, [String.raw` "\"}}" `, "'!'"]],
  ["{{ '''it's }}''' }}", [" '''it's }}''' "]],
  ['{{ {"a": {"b": 1}}}}', [' {"a": {"b": 1}}']],
  ["{{ a // don't }} b", [" a // don't ", "' b'"]],
  ['{{ "{{" }}', [' "{{" ']],
  ['a }} b', ["'a }} b'"]],
  ['a {{ b', 2],
  ['{{ "never closed }}', 0],
  ['{{a}} {{ b }', 6],
])('%s', (text, expected) => {
  expect(sourcesOf(text)).toEqual(expected);
});
