import { readFileSync, writeFileSync } from 'node:fs';
import { EVALUATOR, type Evaluator } from '@orrery/contracts';
import { functionNames } from '@orrery/expressions';
import { expect, test } from 'vitest';
import {
  type CorpusCase,
  corpusCases,
  KEPT_FAILURES,
  orderedCases,
  outcomeOf,
} from './evaluator-corpus.test-support.js';

/**
 * The outcomes of some thousand executions by the rules of each revision. Where one of them changes, executions that were
 * made cannot be run again: raise `EVALUATOR`, leave the files of earlier revisions as they are, and write the new one
 * with `WRITE_CORPUS=1`. It holds what differs from the revision before, and what is new.
 */
interface Corpus {
  readonly evaluator: number;
  /** By what was run: the same execution is there once. */
  readonly outcomes: Readonly<Record<string, string>>;
}

const fileOf = (evaluator: Evaluator) => new URL(`./evaluator-corpus-${evaluator}.json`, import.meta.url);
const read = (evaluator: Evaluator): Corpus => JSON.parse(readFileSync(fileOf(evaluator), 'utf8'));

const ordered = orderedCases();
const cases = new Map(
  [...corpusCases(), ...ordered.flatMap((orders) => orders.slice(0, 1))].map((one) => [keyOf(one), one]),
);

/** What distinguishes the case, short: an expression alone, or its definition. */
function keyOf({ name, parts: { schemas: _, ...parts } }: CorpusCase): string {
  if (name !== undefined) return `${name}: ${JSON.stringify(parts.template)}`;
  const { template } = parts;
  const result = template?.['result'] as { r?: string } | undefined;
  return result?.r ?? JSON.stringify(parts);
}

function writeNewest(before: Corpus['outcomes']): void {
  const isAlike = (outcome?: string) => outcome === 'failed: template_failed';
  const all = [...cases].map(([key, one]) => [key, outcomeOf(one, EVALUATOR)] as const);
  const kept = all.filter(
    ([key, outcome], at) => key in before || !isAlike(outcome) || at % KEPT_FAILURES === 0,
  );
  const changed = kept.filter(([key, outcome]) => outcome !== undefined && outcome !== before[key]);
  const outcomes = Object.fromEntries(changed);
  writeFileSync(fileOf(EVALUATOR), `${JSON.stringify({ evaluator: EVALUATOR, outcomes }, null, 2)}\n`);
}

const first = read(1);
if (process.env['WRITE_CORPUS'] === '1') writeNewest(first.outcomes);
const second = read(2);
const corpora: readonly [Evaluator, Corpus['outcomes']][] = [
  [1, first.outcomes],
  [2, { ...first.outcomes, ...second.outcomes }],
];

test.each(corpora)('no outcome by revision %i of the rules changes', (evaluator, outcomes) => {
  const now = Object.keys(outcomes).map((key) => {
    const one = cases.get(key);
    return [key, one && outcomeOf(one, evaluator)] as const;
  });
  expect(now.filter(([key, outcome]) => outcomes[key] !== outcome)).toEqual([]);
});

test('each file is of its revision, and the last is the present one', () => {
  expect([first.evaluator, second.evaluator, EVALUATOR]).toEqual([1, 2, 2]);
});

test('by the present revision the order of members changes nothing', () => {
  const outcomesBy = (evaluator: Evaluator) =>
    ordered.map((orders) => new Set(orders.map((one) => outcomeOf(one, evaluator))).size);
  expect(outcomesBy(EVALUATOR)).toEqual(ordered.map(() => 1));
  expect(outcomesBy(1).filter((outcomes) => outcomes > 1).length).toBeGreaterThan(5);
});

test('the corpus has some thousand executions, which succeed with every function, or fail in many ways', () => {
  const outcomes = Object.entries(first.outcomes);
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
