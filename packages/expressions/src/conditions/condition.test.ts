import { expect, test } from 'vitest';
import { compileCondition, satisfies } from './condition.js';

const HORSE = { wins: 3, name: 'Bucephalus', tags: ['fast'], injured: false, né: 1 };

function holds(source: string, scope: object = { instance: HORSE, id: 'H1' }, work = 10_000) {
  const compiled = compileCondition(source, [...Object.keys(scope)]);
  if (!compiled.ok) throw new Error(compiled.problem.message);
  return satisfies(compiled.condition, scope as Record<string, unknown>, { work });
}

test.each([
  ['instance.wins > 2 && !instance.injured', true],
  ['instance.wins * 2 == 6', true],
  ['instance.name.startsWith("Bu") || instance.absent > 1', true],
  ['"fast" in instance.tags && id == "H1"', true],
  ['instance.absent > 1', false],
  ['!(instance.absent > 1)', true],
  ['instance.absent != 1', false],
  ['instance.wins > "2"', false],
  ['instance.wins', false],
  ['has(instance.absent)', false],
  ['instance.tags.exists(t, t > 1) || true', true],
  ['fail("no")', false],
  ['!fail("no")', true],
  ['instance["ne\u0301"] == 1', true],
])('%s is %s', (source, expected) => {
  expect(holds(source)).toBe(expected);
});

test('sees the names that it is given', () => {
  expect(holds('instance.wins > input.least', { instance: HORSE, id: 'H1', input: { least: 2 } })).toBe(true);
});

test('ends where its work is used up', () => {
  expect(holds('instance.wins > 2', undefined, 2)).toBeUndefined();
  const list = Array.from({ length: 500 }, (_, n) => n);
  const loop = 'instance.l.exists(a, instance.l.exists(b, instance.l.exists(c, a + b + c < 0)))';
  expect(holds(loop, { instance: { l: list }, id: 'x' }, 250_000)).toBeUndefined();
});

test.each([
  ['wins > 3', 'The name "wins" is not known'],
  ['instance.wins = 3', 'Write "=="'],
  ['instance.wins + 1', 'A condition is true or false'],
  ['"text"', 'A condition is true or false'],
  ['id', 'A condition is true or false'],
  ['', ''],
  ['instance.name.matches("a")', 'not available'],
])('refuses %j', (source, message) => {
  const compiled = compileCondition(source);
  expect(compiled.ok ? 'compiled' : compiled.problem.message).toContain(message);
});
