import { expect, it } from 'vitest';
import { guardWords, readWords, versionPart } from './version-words.js';

it('says which instances are read', () => {
  expect(readWords({ schema: 'horse' })).toBe('all instances');
  expect(readWords({ schema: 'horse', filter: ['winner', 'second.id'] })).toBe(
    'those that the input names at winner, second.id',
  );
});

it('says what guards allow, and nothing where there are none', () => {
  const guards = { maxInstances: 3, maxDelta: { wins: 1 }, deny: ['name'], create: false, delete: true };
  expect(guardWords(guards, true)).toEqual([
    'It changes existing instances only and creates none.',
    'The model may delete instances.',
    'It changes at most 3 instances at once.',
    'wins moves by at most 1.',
    'It leaves as they are: name.',
  ]);
  expect(guardWords({ create: true, delete: true }, false)).toEqual([]);
  expect(guardWords({ delete: false }, false)).toEqual(['It deletes no instance.']);
  expect(guardWords(null, true)).toEqual([]);
});

it('calls a part of a version what the form calls it', () => {
  const key = 'horse:{{input.winner}}';
  expect(versionPart(`/firstVersion/mutationSettings/template/stateChanges/${key}/lod`)).toBe(
    `Template, lod of ${key}`,
  );
  expect(versionPart('/mutationSettings/template/result')).toBe('Template, result');
  expect(versionPart('/guards/deny/0')).toBe('Attributes that stay, 0');
  expect(versionPart('/executionSettings/priceUsd')).toBe('Price in US dollars');
  expect(versionPart('/elsewhere')).toBeUndefined();
});
