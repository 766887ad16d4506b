import { tests } from '@bufbuild/cel-spec/testdata/conformance.js';
import { expect, it } from 'vitest';
import { LEFT_OUT, type LeftOut } from './left-out.js';
import { passes, type SuiteCase } from './run-case.js';

const cases: SuiteCase[] = (tests.suites ?? []).flatMap((suite) =>
  (suite.suites ?? []).flatMap((group) =>
    (group.tests ?? []).map(({ original }) => ({
      ...(original as Omit<SuiteCase, 'path'>),
      path: `${suite.name}/${group.name}/${original.name ?? original.expr}`,
    })),
  ),
);

const leavesOut = ({ paths, expression }: LeftOut, { path, expr }: SuiteCase): boolean =>
  expression?.test(expr) === true || paths?.some((start) => path.startsWith(start)) === true;

const ours = cases.filter((test) => !LEFT_OUT.some((rule) => leavesOut(rule, test)));

it('passes every test of the CEL conformance suite that is not left out', () => {
  expect(ours.filter((test) => !passes(test)).map(({ path, expr }) => `${path}: ${expr}`)).toEqual([]);
  expect(ours.length).toBeGreaterThan(850);
});

it.each(LEFT_OUT)('leaves out nothing that would pass as a whole: $reason', (rule) => {
  const left = cases.filter((test) => leavesOut(rule, test));
  expect(left.some((test) => !passes(test))).toBe(true);
});
