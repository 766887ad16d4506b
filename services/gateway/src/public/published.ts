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
/** Within this time a runtime tells where deployments are whose databases answer; nearly all do at once. */
const QUICK_MS = 250;
/** Those on their way to another database are asked for again, apart from the others, for so long. */
const PATIENT_MS = 4000;

/**
 * Finds published deployments. What is asked while a call is under way shares the next one, so that many readers cost one
 * call, and none is answered by what was so before it asked. A database that is away or slow keeps only those waiting who ask
 * for its deployments. @throws `unavailable` to them
 */
export function createFindPublished(bus: Pick<Bus, 'call'>, clock: Clock): FindPublished {
  const quickly = createAsking(bus, clock, QUICK_MS);
  const patiently = createAsking(bus, clock, PATIENT_MS);
  return async (deployment) => {
    // Others share the call: a text that the runtime refuses would have theirs refused with it.
    const isNamed = parseReference(deployment) !== undefined;
    const found = isNamed ? ((await quickly(deployment)) ?? (await patiently(deployment))) : 'absent';
    if (found === undefined)
      throw new ServiceError('unavailable', 'The database of this deployment is away. Try again.');
    if (found !== 'absent') return found;
    throw new ServiceError('deployment_not_found', 'No published deployment has this address or id.');
  };
}

/** `undefined`: its database has not answered. */
const createAsking = (bus: Pick<Bus, 'call'>, clock: Clock, withinMs: number) =>
  createBatcher<string, Published | 'absent' | undefined>({
    maxBatch: AT_ONCE,
    maxWaiting: MAX_WAITING,
    overdueMs: QUICK_MS,
    keyOf: (deployment) => deployment,
    load: async (asked) => {
      const call = serviceCall('gateway', clock, TIMEOUT_MS);
      const { deployments, unasked } = await bus.call(rpc, { deployments: [...asked], withinMs }, call);
      const left = new Set(unasked);
      return deployments.map((one, place) => (left.has(place) ? undefined : (one ?? 'absent')));
    },
  });
