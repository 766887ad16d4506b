import { EVALUATOR } from '@orrery/contracts';
import { expect, it } from 'vitest';
import type { DeploymentState } from '../../store/state/deployment-state.js';
import { executionOf, resolveEvent } from './resolve-event.js';

const stateLockedWith = (evaluator: number | undefined) =>
  ({
    row: {
      mode: 'locked',
      is_public: true,
      locked_definition: { bindings: [], ...(evaluator && { evaluator }) },
    },
    bindings: new Map(),
  }) as unknown as DeploymentState;
const resolve = (evaluator: number | undefined) =>
  resolveEvent(stateLockedWith(evaluator), { event: 'race', trigger: 'admin' }, undefined);
const refused = (code: string) => expect.objectContaining({ code });

it('a locked deployment runs by the rules that it was locked with, or says that it cannot', () => {
  expect(() => resolve(EVALUATOR)).toThrow(refused('event_not_bound'));
  expect(() => resolve(EVALUATOR + 1)).toThrow(refused('evaluator_unavailable'));
});

it('one that was locked before revisions had numbers runs by the first', () => {
  expect(() => resolve(undefined)).toThrow(refused('event_not_bound'));
  const state = { ...stateLockedWith(undefined), head: { totals: {} }, runs: { room: 0 } } as DeploymentState;
  const request = {
    deploymentId: 1,
    event: 'race',
    input: {},
    trigger: 'admin',
    walletAddress: null,
  } as const;
  const execution = executionOf({} as never, state, request, {} as never, {} as never, 0);
  expect(execution.evaluator).toBe(1);
});
