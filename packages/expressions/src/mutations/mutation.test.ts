import type { JsonValue } from '@orrery/contracts';
import { expect, it } from 'vitest';
import { parseMutation, splitChangeKey } from './mutation.js';

it.each<[string, JsonValue, object]>([
  [
    'full form',
    { stateChanges: { 'h:1': { a: 1 } }, result: { b: 2 } },
    { stateChanges: { 'h:1': { a: 1 } }, result: { b: 2 } },
  ],
  ['changes only', { stateChanges: { 'h:1': {} } }, { stateChanges: { 'h:1': {} }, result: null }],
  ['result only', { result: { a: 1 } }, { stateChanges: {}, result: { a: 1 } }],
  ['nulls', { stateChanges: null, result: null }, { stateChanges: {}, result: null }],
  ['nothing', {}, { stateChanges: {}, result: null }],
  [
    'names in any normal form',
    { 'h:1': { 'e\u0301': 1 } },
    { stateChanges: { 'h:1': { '\u00e9': 1 } }, result: null },
  ],
  ['bare map', { 'h:1': { a: 1 } }, { stateChanges: { 'h:1': { a: 1 } }, result: null }],
])('reads the %s', (_, value, mutation) => {
  expect(parseMutation(value)).toEqual({ ok: true, mutation });
});

it.each<[string, JsonValue, string, string]>([
  ['no object', [], '', 'invalid_mutation'],
  ['changes that are no object', { stateChanges: [] }, '/stateChanges', 'invalid_mutation'],
  ['a result that is no object', { result: 5 }, '/result', 'invalid_mutation'],
  ['a change that is no object', { 'h:1': 5 }, '/h:1', 'invalid_mutation'],
  ['a key without a colon', { horse: {} }, '/horse', 'invalid_change_key'],
  ['a reserved instanceId', { 'horse:__proto__': {} }, '/horse:__proto__', 'invalid_change_key'],
  ['an attribute twice', { 'h:1': { 'e\u0301': 1, '\u00e9': 2 } }, '/h:1', 'invalid_mutation'],
  ['stateChanges beside others', { stateChanges: {}, 'h:1': {} }, '/stateChanges', 'invalid_change_key'],
])('refuses %s', (_, value, pointer, code) => {
  expect(parseMutation(value)).toMatchObject({ ok: false, problems: [{ pointer, code }] });
});

it.each<[string, object | undefined]>([
  ['horse:H1', { schema: 'horse', instanceId: 'H1' }],
  ['horse:did:key:z6', { schema: 'horse', instanceId: 'did:key:z6' }],
  ['a horse/x: y', { schema: 'a horse/x', instanceId: ' y' }],
  ['horse', undefined],
  [':H1', undefined],
  ['horse:', undefined],
  ['', undefined],
])('splits %s', (key, parts) => {
  expect(splitChangeKey(key)).toEqual(parts);
});
