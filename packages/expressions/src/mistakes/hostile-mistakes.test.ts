import type { JsonObject, JsonValue } from '@orrery/contracts';
import { cpuMs } from '@orrery/contracts/test-support';
import { describe, expect, it } from 'vitest';
import { compileContract } from '../schemas/compile-contract.js';
import { DIRECT_NAME_KINDS } from '../templates/template-names.js';
import { findMisspeltAttributes } from './find-change-mistakes.js';
import { findCertainRefusals } from './find-contract-mistakes.js';
import {
  findUndeclaredInputs,
  findUnreadEntities,
  findUnreadHistory,
  templateReferences,
} from './template-references.js';

/** Aimed at is 50 ms; a busy machine may take its time. Without bounds these take seconds. */
const LIMIT_MS = 500;

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));
/** Placeholders that read so many things, twenty each. */
const reading = (count: number, make: (index: number) => string): string =>
  times(count / 20, (i) => `{{ [${times(20, (j) => make(i * 20 + j)).join(',')}] }}`).join('');

/** Names that are long and nearly those that are meant. */
const MEANT = 'a-name-of-sixty-letters-that-differs-little-from-all-others-';
const TYPED = 'a-name-of-sixty-letters-that-differs-little-from-all-othres-';
const declared = times(500, (i) => `${MEANT}${i}`);
const mapOf = (names: readonly string[], value: JsonValue): JsonObject =>
  Object.fromEntries(names.map((name) => [name, value]));

function contractOf(source: JsonObject) {
  const compiled = compileContract(source);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  return compiled.contract;
}
const contract = contractOf(mapOf(declared, 'any'));

describe('thousands of mistakes are found in time', () => {
  it('references behind many line breaks', () => {
    const reads = ['input.absent', 'entities.absent', 'history'];
    const template = { a: `${'\n'.repeat(95_000)}${reading(1_500, (i) => reads[i % 3] ?? '')}` };
    const find = () => {
      const references = templateReferences(template);
      expect(findUndeclaredInputs(references, contract)).toHaveLength(20);
      expect(findUnreadEntities(references, [])).toHaveLength(20);
      expect(findUnreadHistory(references)).toHaveLength(20);
    };
    expect(cpuMs(find)).toBeLessThan(LIMIT_MS);
  });

  it('inputs that nearly have the names of the contract', () => {
    const references = templateReferences(reading(800, (i) => `input["${TYPED}${i}"]`));
    const find = () => expect(findUndeclaredInputs(references, contract)).toHaveLength(20);
    expect(references).toHaveLength(800);
    expect(cpuMs(find)).toBeLessThan(LIMIT_MS);
  });

  it('entities that nearly have the names of those that are read', () => {
    const references = templateReferences(reading(800, (i) => `entities["${TYPED}${i}"]`));
    const find = () => expect(findUnreadEntities(references, declared)).toHaveLength(20);
    expect(cpuMs(find)).toBeLessThan(LIMIT_MS);
  });

  it('attributes that nearly have the names of their schema', () => {
    const template = {
      'horse:H1': mapOf(
        times(800, (i) => `${TYPED}${i}`),
        1,
      ),
    };
    const find = () => findMisspeltAttributes(template, [], new Map([['horse', declared]]));
    expect(cpuMs(find)).toBeLessThan(LIMIT_MS);
  });
});

describe('what a contract certainly refuses is found in time', () => {
  const open = '{{ input }}';
  it.each<[string, JsonObject, JsonObject, number]>([
    [
      'fields that nearly have the names of the contract',
      mapOf(declared, 'any?'),
      mapOf(
        times(800, (i) => `${TYPED}${i}`),
        open,
      ),
      20,
    ],
    [
      'many fields under many schemas',
      { type: 'object', properties: {}, additionalProperties: true, allOf: times(900, () => ({})) },
      mapOf(
        times(4_000, (i) => `field${i}`),
        open,
      ),
      0,
    ],
  ])('%s', (_, source, template, problems) => {
    const compiled = contractOf(source);
    const find = () =>
      expect(findCertainRefusals(template, compiled, DIRECT_NAME_KINDS)).toHaveLength(problems);
    expect(cpuMs(find)).toBeLessThan(LIMIT_MS);
  });
});
