import { type Bus, serviceCall } from '@orrery/bus';
import { parseReference, type ReplyOf, runtimeContract, ServiceError } from '@orrery/contracts';
import { type Clock, createBatcher } from '@orrery/service-kit';

const rpc = runtimeContract.rpcs['deployments.published'];
/** Where a published deployment is, and the hash of its journal's last entry. */
export type Published = NonNullable<ReplyOf<typeof rpc>['deployments'][number]>;

/** @throws `deployment_not_found` for what is absent or not published: the answer does not tell which. */
export type FindPublished = (deployment: string) => Promise<Published>;

/** Where agents go on from an answer about a deployment (RFC 8288), relative to the server. */
export const linksFor = (deployment: string): string =>
  `</llms.txt>; rel="help", </mcp/deployments/${encodeURIComponent(deployment)}>; rel="service"`;

const AT_ONCE = 500;
const MAX_WAITING = 5000;
const TIMEOUT_MS = 5000;

/**
 * Finds published deployments. What is asked while a call is under way shares the next one, so that many readers cost one
 * call, and none is answered by what was so before it asked.
 */
export function createFindPublished(bus: Pick<Bus, 'call'>, clock: Clock): FindPublished {
  const find = createBatcher<string, Published | null>({
    maxBatch: AT_ONCE,
    maxWaiting: MAX_WAITING,
    keyOf: (deployment) => deployment,
    load: async (deployments) => {
      const call = serviceCall('gateway', clock, TIMEOUT_MS);
      return (await bus.call(rpc, { deployments: [...deployments] }, call)).deployments;
    },
  });
  return async (deployment) => {
    // Others share the call: a text that the runtime refuses would have theirs refused with it.
    const found = parseReference(deployment) === undefined ? null : await find(deployment);
    if (found !== null) return found;
    throw new ServiceError('deployment_not_found', 'No published deployment has this address or id.');
  };
}
