import { readFileSync } from 'node:fs';
import type { JsonValue } from '@orrery/contracts';
import { expect, it } from 'vitest';
import { compileContract } from './compile-contract.js';
import { checkAgainst } from './keywords/validation.js';

const page = readFileSync(new URL('../../../../docs/schemas.md', import.meta.url), 'utf8');

/** Each value on the page, with the contract that stands last before it. */
const examples: { kind: string; contract: JsonValue; value: JsonValue }[] = [];
let contract: JsonValue = null;
for (const [, kind = '', text = ''] of page.matchAll(/^```json (\w+)\n(.*?)^```$/gms)) {
  if (kind === 'contract') contract = JSON.parse(text) as JsonValue;
  else examples.push({ kind, contract, value: JSON.parse(text) as JsonValue });
}

it.each(examples)('$value $kind its contract', ({ kind, contract: source, value }) => {
  const compiled = compileContract(source);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  expect(checkAgainst(compiled.contract, value).length > 0).toBe(kind === 'breaks');
});

it('the page has examples of both kinds', () => {
  expect(new Set(examples.map(({ kind }) => kind))).toEqual(new Set(['fits', 'breaks']));
});
