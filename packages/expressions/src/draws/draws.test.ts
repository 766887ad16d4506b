import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { compileCondition } from '../conditions/condition.js';
import { compileTemplate } from '../templates/compile-template.js';
import { evaluateTemplate } from '../templates/evaluate-template.js';
import { Draws, fractionOf, indexOf, MAX_DRAWS } from './draws.js';

const SEED = Uint8Array.from({ length: 32 }, (_, byte) => byte);
const NAMES = ['input'];

function drawn(template: Parameters<typeof compileTemplate>[0], draws = new Draws(() => SEED), input = {}) {
  const compiled = compileTemplate(template, { names: NAMES, random: true });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  const result = evaluateTemplate(compiled.template, { input }, { draws });
  return result.ok ? result.value : result.problem.reason;
}

const values = (expression: string, count: number) => {
  const draws = new Draws(() => SEED);
  return Array.from({ length: count }, () => drawn(`{{ ${expression} }}`, draws));
};

describe('draws', () => {
  it('are HMAC-SHA256 of the seed and the number of the draw', () => {
    const draws = new Draws(() => SEED);
    for (let k = 0; k < 300; k++) {
      const bytes = Buffer.alloc(8);
      bytes.writeBigUInt64BE(BigInt(k));
      expect(draws.next()).toBe(createHmac('sha256', SEED).update(bytes).digest().readBigUInt64BE(0));
    }
    expect(draws.drawn).toBe(300);
  });

  it('ask for the seed once, and not before the first', () => {
    let asked = 0;
    const draws = new Draws(() => {
      asked += 1;
      return SEED;
    });
    expect(drawn('{{ input.a ? random.int(1, 6) : 0 }}', draws, { a: false })).toBe(0);
    expect(asked).toBe(0);
    draws.next();
    draws.next();
    expect(asked).toBe(1);
  });

  it('reject what would make some numbers likelier than others', () => {
    const most = 2n ** 64n - 1n;
    expect(indexOf(most, 3n)).toBeUndefined();
    expect(indexOf(most - 1n, 3n)).toBe(2n);
    expect(indexOf(most, 2n ** 10n)).toBe(1023n);
    expect(indexOf(0n, 1n)).toBe(0n);
    expect(fractionOf(most)).toBe(1 - 2 ** -53);
    expect(fractionOf(0n)).toBe(0);
  });

  // Computed by a program of another language, from docs/templates.md alone.
  it('give these numbers', () => {
    expect(values('random.int(1, 6)', 10)).toEqual([6, 4, 5, 6, 6, 3, 6, 4, 6, 3]);
    expect(values('random.float()', 3)).toEqual([0.6212898328090829, 0.766401311793263, 0.9733098791448401]);
    expect(
      drawn(['{{ random.pick(["a", "b", "c"]) }}', '{{ random.shuffle(["H1", "H2", "H3", "H4"]) }}']),
    ).toEqual(['c', ['H1', 'H3', 'H2', 'H4']]);
    expect(values('random.int(-9007199254740991, 9007199254740991)', 1)).toEqual([-5390109858332474]);
  });

  it('are as likely one as the other', () => {
    const counts = new Map<unknown, number>();
    for (const value of values('random.int(0, 2)', 1500)) counts.set(value, (counts.get(value) ?? 0) + 1);
    expect([...counts.keys()].sort()).toEqual([0, 1, 2]);
    for (const count of counts.values()) expect(Math.abs(count - 500)).toBeLessThan(100);
  });
});

describe('the functions', () => {
  it.each([
    ['random.int(7, 7)', 7],
    ['random.int(1, 6) / 100', 0],
    ['type(random.int(1, 6)) == int', true],
    ['random.shuffle([])', []],
    ['random.shuffle([9])', [9]],
    ['random.pick([null])', null],
    ['[1, 2].map(random, random)', [1, 2]],
  ])('%s', (expression, value) => {
    expect(drawn(`{{ ${expression} }}`)).toEqual(value);
  });

  it.each([
    ['random.int(6, 1)', 'takes the lower number first: 6 is above 1'],
    ['random.int(0.5, 1)', 'takes whole numbers from'],
    ['random.int(0, 9007199254740992)', 'takes whole numbers from'],
    ['random.int("1", 6)', 'takes two whole numbers, not text'],
    ['random.pick([])', 'takes a list that is not empty'],
    ['random.pick({"a": 1})', 'takes a list, not an object. The keys of an object are'],
    ['random.shuffle("abc")', 'takes a list, not text'],
    [`random.shuffle(input.list)`, `draws at most ${MAX_DRAWS} random numbers`],
    ['input.list.exists(x, random.int(1, 6) > 6)', `draws at most ${MAX_DRAWS} random numbers`],
  ])('%s fails', (expression, reason) => {
    const list = Array.from({ length: MAX_DRAWS + 2 }, (_, n) => n);
    expect(drawn(`{{ ${expression} }}`, new Draws(() => SEED), { list })).toContain(reason);
  });

  it('count the draws of all evaluations of an execution together', () => {
    const draws = new Draws(() => SEED);
    const list = Array.from({ length: MAX_DRAWS + 1 }, (_, n) => n);
    expect(drawn('{{ size(random.shuffle(input.list)) }}', draws, { list })).toBe(list.length);
    expect(draws.drawn).toBeGreaterThanOrEqual(MAX_DRAWS);
    expect(drawn('{{ random.float() }}', draws)).toContain('draws at most');
  });
});

describe('where they stand', () => {
  const refused = expect.objectContaining({ code: 'random_not_allowed' });

  it('are refused unless who evaluates brings draws', () => {
    const compiled = compileTemplate({ a: ['{{ random.int(1, 6) }}'] }, { names: NAMES });
    expect(compiled).toMatchObject({
      ok: false,
      problems: [{ pointer: '/a/0', code: 'random_not_allowed' }],
    });
    expect(compileCondition('instance.wins > random.int(1, 6)')).toEqual({ ok: false, problem: refused });
    expect(compileTemplate('{{ random.dice() }}', { names: NAMES, random: true })).toMatchObject({
      problems: [{ code: 'unknown_function' }],
    });
  });

  it('a template says whether it draws', () => {
    const draws = (template: string) => {
      const compiled = compileTemplate(template, { names: NAMES, random: true });
      return compiled.ok && compiled.template.draws;
    };
    expect(draws('{{ input.a ? random.float() : 0 }}')).toBe(true);
    expect(draws('{{ input.random }}')).toBe(false);
  });

  it('objects are gone through in the order of their keys, however these are stored', () => {
    const roll = '{{ random.int(1, 6) }}';
    const one = drawn({ b: roll, a: [roll, roll], 'c{{ random.int(1, 6) }}': roll });
    const other = drawn({ 'c{{ random.int(1, 6) }}': roll, a: [roll, roll], b: roll });
    expect(one).toEqual({ a: [6, 4], b: 5, c6: 6 });
    expect(other).toEqual(one);
    expect(Object.keys(drawn({ b: roll, a: { z: 1, y: 2 } }) as object)).toEqual(['a', 'b']);
    expect(Object.keys((drawn({ b: roll, a: { z: 1, y: 2 } }) as { a: object }).a)).toEqual(['y', 'z']);
  });
});
