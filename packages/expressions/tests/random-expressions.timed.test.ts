import { cpuMs } from '@orrery/contracts/test-support';
import { expect, it } from 'vitest';
import { functionNames } from '../src/cel/functions/table.js';
import { compileTemplate, Draws, evaluateTemplate } from '../src/index.js';
import { grammar, names, randomExpression, seeded } from './random-expressions.js';

const SEED = 20_261_123;
const EXPRESSIONS = 10_000;
const MOST_MS = 100;
/** What takes long for its own sake takes long each time. */
const TRIES = 5;

const known = Object.keys(names);

/** Compiles a template and evaluates it, as a placeholder alone, within a text and as a key. */
function run(expression: string): string {
  const placeholder = `{{ ${expression} }}`;
  const compiled = compileTemplate(
    { a: placeholder, b: `x${placeholder}`, [placeholder]: 1 },
    { names: known, random: true },
  );
  if (!compiled.ok) return compiled.problems[0]?.code ?? '';
  const draws = new Draws(() => new Uint8Array(32));
  const result = evaluateTemplate(compiled.template, names, { draws });
  return result.ok ? 'ok' : 'failed';
}

function leastMs(work: () => void): number {
  const first = cpuMs(work);
  return first < MOST_MS ? first : Math.min(first, ...Array.from({ length: TRIES }, () => cpuMs(work)));
}

it('the grammar has every function', () => {
  const written = new Set(grammar.match(/[\w.]+(?=\()/g)?.map((name) => name.replace(/^\./, '')));
  expect(functionNames.filter((name) => !written.has(name))).toEqual([]);
});

it('no random expression takes long', { timeout: 300_000 }, () => {
  const random = seeded(SEED);
  const slow: [number, string][] = [];
  const outcomes = new Map<string, number>();
  for (let n = 0; n < EXPRESSIONS; n += 1) {
    const expression = randomExpression(random);
    let outcome = '';
    const ms = leastMs(() => {
      outcome = run(expression);
    });
    if (ms >= MOST_MS) slow.push([Math.round(ms), expression]);
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  expect(slow).toEqual([]);
  // Most of them are evaluated: the grammar writes what compiles.
  expect((outcomes.get('ok') ?? 0) + (outcomes.get('failed') ?? 0)).toBeGreaterThan(EXPRESSIONS * 0.8);
});
