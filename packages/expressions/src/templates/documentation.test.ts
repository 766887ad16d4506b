import { readFileSync } from 'node:fs';
import type { JsonValue } from '@orrery/contracts';
import { expect, it } from 'vitest';
import { Draws } from '../draws/draws.js';
import { compileTemplate } from './compile-template.js';
import { evaluateTemplate } from './evaluate-template.js';
import { DIRECT_TEMPLATE_NAMES } from './template-names.js';

const page = readFileSync(new URL('../../../../docs/templates.md', import.meta.url), 'utf8');

interface Block {
  kind: string;
  json: JsonValue;
}

const blocks: Block[] = [...page.matchAll(/^```json (\w+)\n(.*?)^```$/gms)].map(
  ([, kind = '', text = '']) => ({
    kind,
    json: JSON.parse(text) as JsonValue,
  }),
);

/** Each example on the page: a template, the values of its names, and what becomes of it. */
const examples = blocks.flatMap((template, index) => {
  const [scope, outcome] = blocks.slice(index + 1, index + 3);
  return template.kind === 'template' && scope && outcome ? [{ template, scope, outcome }] : [];
});

it('the page has its examples in threes', () => {
  expect(examples.length).toBeGreaterThan(8);
  expect(blocks).toHaveLength(examples.length * 3);
});

it.each(examples)('the example $template.json', ({ template, scope, outcome }) => {
  expect(scope.kind).toBe('scope');
  const options = { names: DIRECT_TEMPLATE_NAMES, mutation: true, random: true };
  const compiled = compileTemplate(template.json, options);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  const { seed = '', ...names } = scope.json as Record<string, JsonValue>;
  const draws = new Draws(() => Buffer.from(String(seed), 'hex'));
  const result = evaluateTemplate(compiled.template, names, { draws });
  if (result.ok) return expect(result.value).toEqual(outcome.json);
  expect(outcome.kind).toBe('failure');
  const { isAuthored: _, told: _told, ...facts } = result.problem;
  expect(facts).toEqual(outcome.json);
});
