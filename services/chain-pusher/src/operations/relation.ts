import type { Bus } from '@orrery/bus';
import { type CallContext, runtimeContract } from '@orrery/contracts';

/** A deployment in a path. */
export interface Path {
  readonly worldAddress: string;
  readonly address: string;
}

/** What the caller is to a deployment. @throws `deployment_not_found` where the caller may not see it */
export const relationOf = (bus: Pick<Bus, 'call'>, { worldAddress, address }: Path, call: CallContext) =>
  bus.call(runtimeContract.rpcs['deployments.relation'], { params: { worldAddress, address } }, call);
