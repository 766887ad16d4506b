import { medianCpuMs } from '@orrery/contracts/test-support';
import { expect, it } from 'vitest';
import {
  checkAgainst,
  checkState,
  compileContract,
  compileEntitySchema,
  compileTemplate,
  evaluateTemplate,
} from '../src/index.js';
import { contracts } from './hostile-contracts.js';
import { expressions, scope } from './hostile-expressions.js';

/** Twice what one function, operator or keyword may take on a quiet machine, and what one evaluation may. */
const ONE_MS = 40;
const EVALUATION_MS = 120;
/** As many placeholders as use up the work of an evaluation, whatever one of them costs. */
const MANY = 300;

const names = Object.keys(scope);

function evaluation(template: string | string[]): () => unknown {
  const compiled = compileTemplate(template, { names });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  return () => evaluateTemplate(compiled.template, scope);
}

it.each(expressions)('%s', (expression) => {
  const placeholder = `{{ ${expression} }}`;
  expect(medianCpuMs(evaluation(placeholder))).toBeLessThan(ONE_MS);
  expect(medianCpuMs(evaluation(Array.from({ length: MANY }, () => placeholder)))).toBeLessThan(
    EVALUATION_MS,
  );
});

it.each(contracts)('the keyword %s', (_, schema, value) => {
  const compiled = compileContract(schema);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  expect(medianCpuMs(() => checkAgainst(compiled.contract, { a: value }))).toBeLessThan(ONE_MS);
});

const attribute = (index: number, constraints = {}) => ({
  name: `a${index}`,
  type: 'string' as const,
  constraints,
  defaultValue: null,
});

it.each([
  ['enum', { enum: Array.from({ length: 1_000 }, (_, i) => `t${i}`) }],
  ['pattern', { pattern: '^[a-z]{1,255}$' }],
  ['required', { required: true }],
])('%s of all attributes of a state', (_, constraints) => {
  const schema = compileEntitySchema(Array.from({ length: 200 }, (_none, i) => attribute(i, constraints)));
  const state = Object.fromEntries(Array.from({ length: 200 }, (_none, i) => [`a${i}`, 'a'.repeat(300)]));
  expect(medianCpuMs(() => checkState(schema, state))).toBeLessThan(ONE_MS);
});
