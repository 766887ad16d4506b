import { decideExecution } from '@orrery/deciding';
import { executionOf, viewOf } from '@orrery/deciding/test-support';
import { expect, it } from 'vitest';
import { executions } from './hostile-executions.js';

/** Twice what deciding one execution may take on a quiet machine: meanwhile no other deployment of the process is served. */
const DECISION_MS = 200;

function cpuMs(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

it.each(executions)('%s', (_, parts, input, states) => {
  const execution = { ...executionOf(parts, input), instanceCount: { before: 0, limit: 100_000 } };
  const view = viewOf(states);
  const times = Array.from({ length: 5 }, () => cpuMs(() => decideExecution(execution, view)));
  expect(times.sort((a, b) => a - b)[2]).toBeLessThan(DECISION_MS);
});
