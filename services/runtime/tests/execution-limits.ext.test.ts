import { medianCpuMs } from '@orrery/contracts/test-support';
import { decideExecution } from '@orrery/deciding';
import { executionOf, viewOf } from '@orrery/deciding/test-support';
import { expect, it } from 'vitest';
import { executions } from './hostile-executions.js';

/** Twice what deciding one execution may take on a quiet machine: meanwhile no other deployment of the process is served. */
const DECISION_MS = 200;

it.each(executions)('%s', (_, parts, input, states) => {
  const execution = { ...executionOf(parts, input), instanceCount: { before: 0, limit: 100_000 } };
  const view = viewOf(states);
  expect(medianCpuMs(() => decideExecution(execution, view))).toBeLessThan(DECISION_MS);
});
