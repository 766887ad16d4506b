import type { JsonObject } from '@orrery/contracts';
import { expect, it } from 'vitest';
import { Draws } from '../draws/draws.js';
import { compileTemplate } from './compile-template.js';
import { evaluateTemplate } from './evaluate-template.js';

const NAMES = ['input', 'entities', 'timestamp'];
const SCOPE = { entities: { lot: { L1: { price: 3 } } }, timestamp: '2026-11-21T09:30:00Z' };

function problemOf(template: JsonObject, input: JsonObject) {
  const compiled = compileTemplate(template, { names: NAMES, mutation: true, random: true });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  const draws = new Draws(() => new Uint8Array(32));
  const result = evaluateTemplate(compiled.template, { ...SCOPE, input }, { draws });
  if (result.ok) throw new Error('it did not fail');
  return result.problem;
}
const inResult = (expression: string): JsonObject => ({ result: { r: `{{ ${expression} }}` } });

/** What a template keeps to itself. */
const SECRETS = /sesame|4242/i;

it.each([
  'input.sesame',
  'input["sesame"]',
  'input["ses" + "ame"]',
  'input.n.sesame',
  'input.n["sesame"]',
  'entities.sesame.a',
  'entities.lot.sesame.price',
  'entities.lot[input.id].sesame',
  'entities.lot.L1["sesame"]',
  '{"sesame": 1}[input.word]',
  '{"sesame": {"a": 1}}.sesame.b',
  '{"sesame": 1, "ses" + "ame": 2}',
  '{"sesame": [1]}["sesame"].length',
  'entities.lot.map(id, id.sesame)',
  'timestamp("sesame")',
  'timestamp("4242-02-31T00:00:00Z")',
  'duration("sesame")',
  'timestamp(timestamp).getHours("Mars/Sesame")',
  'int("sesame")',
  'double("sesame")',
  'bool("sesame")',
  '"sesame" + 1',
  '"sesame"[4242]',
  '[1][4242]',
  '"sesame".charAt(4242)',
  'random.int(4242, 1)',
  'random.int(4242424242424242424, 1)',
  '4242424242424242424 + 1',
  '4242424242424242424 * 4242',
  'input.word == "sesame-42" ? 1 : 1 / 0',
])('strangers are told nothing of: %s', (expression) => {
  const { told } = problemOf(inResult(expression), { word: 'sesamo', n: 1, id: 'L1' });
  expect(told.replaceAll('sesamo', '')).not.toMatch(SECRETS);
  expect(told).toMatch(/^[A-Z"…].*\.$/);
});

it.each<[JsonObject]>([
  [{ 'lot:{{ "sesame" }}': {}, 'lot:{{ "ses" + "ame" }}': {} }],
  [{ 'lot:L1': { price: { '{{ "$sesame" }}': 1 } } }],
  [{ '{{ "sesame" + input.none }}': {} }],
])('nor of keys: %j', (template) => {
  expect(problemOf(template, {}).told).not.toMatch(SECRETS);
});

it('those who may see the template are told all', () => {
  const { placeholder, pointer, reason } = problemOf(inResult('{"sesame": 1}[input.word]'), {
    word: 'sesamo',
  });
  expect(reason).toBe('There is no "sesamo". Did you mean "sesame"?');
  expect([placeholder, pointer]).toEqual(['{{ {"sesame": 1}[input.word] }}', '/result/r']);
});

it.each([
  ['{"sesame": 1}[input.word]', 'There is no "sesamo".'],
  [
    'entities.lot[input.id].price',
    'No instance "L9" of "…" was read: it does not exist, or no filter of readEntities selects it.',
  ],
  [
    'entities.lot[input.n].price',
    'No instance "7" of "…" was read: it does not exist, or no filter of readEntities selects it.',
  ],
  ['[1][input.n]', 'The list of 1 has no element 7.'],
  ['duration(input.word)', '"sesamo" is not a duration.'],
  ['fail("Sesame is not it.")', 'Sesame is not it.'],
])('callers are told what they wrote, and what an author says: %s', (expression, told) => {
  expect(problemOf(inResult(expression), { word: 'sesamo', id: 'L9', n: 7 }).told).toBe(told);
});

it('a key that is written is not confirmed to who guesses it', () => {
  expect(problemOf(inResult('input.sesame'), { guesses: ['sesame'] }).told).toBe('The input has no "…".');
});
