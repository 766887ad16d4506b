import type { CallContext, ExecutionTrigger, JsonObject } from '@orrery/contracts';
import { ServiceError } from '@orrery/contracts';
import type { CatalogClient } from '../catalog/catalog-client.js';
import type { WorkItem } from '../state/work-item.js';
import { type Answer, decideDirectly } from './conclude-execution.js';
import { type Confirmed, confirmVersion, executionOf, resolveEvent } from './resolve-event.js';

/** One request to execute an event. */
export interface ExecutionRequest {
  readonly deploymentId: number;
  readonly event: string;
  readonly input: JsonObject;
  readonly trigger: ExecutionTrigger;
  readonly walletAddress: string | null;
  readonly dryRun: boolean;
}

/** An event that asks the world outside: to be executed as a run. */
export const ASKS_OUTSIDE = 'asks_outside';

export interface ExecuteDependencies {
  readonly catalog: Pick<CatalogClient, 'version'>;
  readonly limits: { readonly instancesPerDeployment: number };
  /** Who is asked when a version does not decide by itself. */
  readonly outside?: unknown;
}

/**
 * An execution that waits for nothing outside: its definition is confirmed while it is prepared, and the whole of
 * read → decide → apply → check happens in the lane, against what the item before it left.
 */
export function executeItem(
  { catalog, limits, outside }: ExecuteDependencies,
  request: ExecutionRequest,
  call: CallContext,
): WorkItem<Answer | typeof ASKS_OUTSIDE> {
  const startedAt = performance.now();
  let confirmed: Confirmed;
  return {
    deploymentId: request.deploymentId,
    deadline: call.deadline,
    signal: call.signal,
    prepare: async (state) => {
      confirmed = await confirmVersion(catalog, state, request.event);
    },
    decide: (state, _ids, now) => {
      const resolved = resolveEvent(state, request.event, confirmed);
      if (resolved === 'prepare') return { kind: 'prepare' };
      if (resolved.definition.mutation === 'ai') {
        if (outside !== undefined && !request.dryRun) return { kind: 'answer', answer: ASKS_OUTSIDE };
        throw new ServiceError('unavailable', 'no AI model can be reached');
      }
      const execution = executionOf(resolved, state, request, call, limits, now);
      const elapsed = () => performance.now() - startedAt;
      return decideDirectly(resolved, state, execution, { elapsed });
    },
  };
}
