import type { Bus } from '@orrery/bus';
import {
  catalogContract,
  MAX_DEPTH,
  MAX_LIMIT,
  type RequestLimits,
  runtimeContract,
  TIMER_LIMITS,
  WEBHOOK_LIMITS,
} from '@orrery/contracts';
import type { RatePolicies } from '../core/rates/token-bucket.js';
import type { GatewayCall, IdentityHandlers } from '../core/requests/operation.js';

/** What the gateway tells of its own limits. */
export interface OwnLimits {
  readonly limits: { readonly bodyLimit: number; readonly jsonDepth: number };
  readonly deadlineMs: number;
  readonly runDeadlineMs: number;
  readonly rates: RatePolicies | undefined;
}

/** Answers the limits in force: the gateway's own, and those that the services apply. */
export const limitHandlers = (
  bus: Pick<Bus, 'call'>,
  own: OwnLimits,
): Pick<IdentityHandlers, 'limits.get'> => {
  const requests = requestLimitsOf(own);
  return {
    'limits.get': async (_request, { caller, requestId, deadline, signal }: GatewayCall) => {
      const call = { caller, requestId, deadline, signal };
      const [definitions, deployments] = await Promise.all([
        bus.call(catalogContract.rpcs['limits.ofDefinitions'], {}, call),
        bus.call(runtimeContract.rpcs['limits.ofDeployments'], {}, call),
      ]);
      return {
        data: { requests, definitions, deployments, timers: TIMER_LIMITS, webhooks: WEBHOOK_LIMITS },
      };
    },
  };
};

const requestLimitsOf = ({ limits, deadlineMs, runDeadlineMs, rates }: OwnLimits): RequestLimits => ({
  bodyBytes: limits.bodyLimit,
  jsonDepth: limits.jsonDepth,
  pageEntries: MAX_LIMIT,
  pageDepth: MAX_DEPTH,
  answerSeconds: deadlineMs / 1000,
  modelAnswerSeconds: runDeadlineMs / 1000,
  rates: rates === undefined ? null : ratesOf(rates),
});

const ratesOf = ({ key, address, reading, verification, wallet, node, signIn }: RatePolicies) => ({
  keyPerSecond: key.perSecond,
  keyBurst: key.burst,
  publicPerAddressPerMinute: address.burst,
  publicReadsPerAddressPerMinute: reading.burst,
  publicVerificationsPerAddressPerMinute: verification.burst,
  publicPerWalletPerMinute: wallet.burst,
  contractSignaturesPerAddressPerMinute: node.burst,
  signInPerAddressPerMinute: signIn.burst,
});
