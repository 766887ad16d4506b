import { ServiceError } from '@orrery/contracts';
import type { DeploymentState } from '../state/deployment-state.js';
import type { Decision } from './execute-event.js';

/** A deployment has a bounded number of instances (decisions §8): creating more fails the execution. */
export function refuseTooManyInstances(
  decision: Decision,
  { head }: DeploymentState,
  { instancesPerDeployment: limit }: { readonly instancesPerDeployment: number },
): Decision {
  if (decision.kind !== 'succeeded') return decision;
  const before = head.totals['instances'] ?? 0;
  const after = decision.changes.reduce((sum, { op }) => sum + GROWTH[op], before);
  return after > limit && after > before ? { kind: 'failed', error: tooManyInstances(limit) } : decision;
}

const GROWTH = { create: 1, update: 0, delete: -1 };

export const tooManyInstances = (limit: number): ServiceError =>
  new ServiceError('limit_reached', `a deployment has at most ${limit} instances`, { facts: { limit } });
