import { useQueryClient } from '@tanstack/react-query';
import type { BindingChange } from '../api/bindings.js';
import { deploymentPath } from '../api/deployment-path.js';
import { deploymentKey } from '../api/deployments.js';
import { useOrrery } from '../session/use-session.js';
import { useDeploymentRef } from './use-deployment-ref.js';

const BINDINGS = '/api/worlds/{worldAddress}/deployments/{address}/event-bindings';

/** Changes of what a deployment runs. Each resolves with what the service says beside its answer. */
export function useBindingRequests() {
  const orrery = useOrrery();
  const ref = useDeploymentRef();
  const cache = useQueryClient();
  const path = deploymentPath(ref);
  const seen = async <T extends { message?: string }>(answer: Promise<T>): Promise<string | undefined> => {
    const { message } = await answer;
    await cache.invalidateQueries({ queryKey: deploymentKey(ref) });
    return message;
  };
  return {
    bind: (binding: BindingChange & { eventVersion: number }) =>
      seen(orrery.answer('post', BINDINGS, { path, body: [binding] })),
    change: (binding: BindingChange) => seen(orrery.answer('put', BINDINGS, { path, body: [binding] })),
    unbind: (event: string) => seen(orrery.answer('delete', BINDINGS, { path, query: { event } })),
  };
}
