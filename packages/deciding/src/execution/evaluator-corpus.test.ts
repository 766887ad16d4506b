import { readFileSync, writeFileSync } from 'node:fs';
import { EVALUATOR } from '@orrery/contracts';
import { functionNames } from '@orrery/expressions';
import { expect, test } from 'vitest';
import { corpusCases, KEPT_FAILURES, outcomeOf } from './evaluator-corpus.test-support.js';

/**
 * The outcomes of some thousand executions by the rules of one revision. Where one of them changes, executions that were
 * made cannot be run again: raise `EVALUATOR`, and only then write the corpus anew with `WRITE_CORPUS=1`.
 */
const file = new URL('./evaluator-corpus.json', import.meta.url);
interface Corpus {
  readonly evaluator: number;
  /** By what was run: the same execution is there once. */
  readonly outcomes: Readonly<Record<string, string>>;
}

const cases = new Map(corpusCases().map((one) => [keyOf(one), one]));

/** What distinguishes the case, short: an expression alone, or its definition. */
function keyOf({ parts: { schemas: _, ...parts } }: ReturnType<typeof corpusCases>[number]): string {
  const { template } = parts;
  const result = template?.['result'] as { r?: string } | undefined;
  return result?.r ?? JSON.stringify(parts);
}

function stored(): Corpus {
  if (process.env['WRITE_CORPUS'] === '1') {
    const all = [...cases].map(([key, one]) => [key, outcomeOf(one)] as const);
    const isAlike = (outcome?: string) => outcome === 'failed: template_failed';
    const kept = all.filter(([, outcome], at) => !isAlike(outcome) || at % KEPT_FAILURES === 0);
    const outcomes = Object.fromEntries(kept.filter(([, outcome]) => outcome !== undefined));
    writeFileSync(file, `${JSON.stringify({ evaluator: EVALUATOR, outcomes }, null, 2)}\n`);
  }
  return JSON.parse(readFileSync(file, 'utf8'));
}

const corpus = stored();

test('no outcome changes unless the revision of the rules rises', () => {
  expect(corpus.evaluator, 'the corpus is of this revision').toBe(EVALUATOR);
  const now = Object.keys(corpus.outcomes).map((key) => {
    const one = cases.get(key);
    return [key, one && outcomeOf(one)] as const;
  });
  expect(now.filter(([key, outcome]) => corpus.outcomes[key] !== outcome)).toEqual([]);
});

test('the corpus has some thousand executions, which succeed with every function, or fail in many ways', () => {
  const outcomes = Object.entries(corpus.outcomes);
  const succeeded = outcomes.filter(([, outcome]) => outcome.startsWith('{')).map(([key]) => key);
  const codes = new Set(
    outcomes.filter(([, outcome]) => !outcome.startsWith('{')).map(([, outcome]) => outcome),
  );
  expect(outcomes.length).toBeGreaterThan(3000);
  expect(codes.size).toBeGreaterThan(5);
  const unused = functionNames.filter(
    (name) => name !== 'fail' && !succeeded.some((key) => key.includes(`${name}(`)),
  );
  expect(unused).toEqual([]);
});
