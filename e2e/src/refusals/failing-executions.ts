import { readAnswer, readTable } from './read-table.js';

/** An execution that is refused: what is asked, and the status and code that answer. */
export type FailingExecution = readonly [
  what: string,
  event: string,
  input: object,
  status: number,
  code: string,
];
type Row = readonly [answer: string, event: string, input: object];

const { failedInTheRun: failed = {}, refusedBeforeTheRun: refused = {} } =
  readTable<Readonly<Record<string, Row>>>('failing-executions.yaml');

const executionsOf = (rows: Readonly<Record<string, Row>>): FailingExecution[] =>
  Object.entries(rows).map(([what, [answer, event, input]]) => {
    const { status, code } = readAnswer(answer);
    return [what, event, input, status, code];
  });

/** Failures from *read* on: each leaves one failed entry with the reason and changes nothing (docs/execution.md). */
export const failedInTheRun: readonly FailingExecution[] = executionsOf({
  ...failed,
  'a template that grows beyond all bounds': [
    '400 template_failed',
    'repeat',
    { id: 'A', text: 'x'.repeat(1000), list: Array(500).fill(0) },
  ],
  'more than 500 instances named': [
    '409 read_set_too_large',
    'filtered',
    { who: Array.from({ length: 501 }, (_, i) => i) },
  ],
});

/** Refusals before *read*: no entry (docs/execution.md). */
export const refusedBeforeTheRun: readonly FailingExecution[] = executionsOf(refused);
