import { expect, it } from 'vitest';
import { placeIn } from './json-place.js';

/** The place of `|` in a text. */
const at = (text: string) => placeIn(text.replace('|', ''), text.indexOf('|'));

it.each([
  ['{ "|', [], 'key'],
  ['{ "a": { "b|" } }', ['a'], 'key'],
  ['{ "a": { "b": "x|" } }', ['a', 'b'], 'value'],
  ['{ "a": 1, "|', [], 'key'],
  ['[{ "event": "|" }]', ['event'], 'value'],
  ['{ "a": ["x", "|"] }', ['a'], 'value'],
  ['{ "a\\"b": { "|', ['a"b'], 'key'],
  ['{ "a": "}", "b": { "|', ['b'], 'key'],
  ['{ "unfinished: 1,\n "|', [], 'key'],
])('of %j', (text, path, kind) => {
  expect(at(text)).toMatchObject({ path, kind });
});

it.each(['|', '{ |', '{ "a": |1', '{ "a"| : 1 }'])('%j is in no text', (text) => {
  expect(at(text)).toBeUndefined();
});
