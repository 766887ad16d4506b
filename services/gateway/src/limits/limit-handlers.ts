import type { Bus } from '@orrery/bus';
import {
  catalogContract,
  MAX_DEPTH,
  MAX_LIMIT,
  type RequestLimits,
  runtimeContract,
} from '@orrery/contracts';
import type { GatewayConfig } from '../config.js';
import type { GatewayCall, IdentityHandlers } from '../operations/operation.js';
import type { RatePolicies } from './rate-policy.js';

/** Answers the limits in force: the gateway's own, and those that the services apply. */
export const limitHandlers = (
  bus: Pick<Bus, 'call'>,
  config: GatewayConfig,
): Pick<IdentityHandlers, 'limits.get'> => {
  const requests = requestLimitsOf(config);
  return {
    'limits.get': async (_request, { caller, requestId, deadline, signal }: GatewayCall) => {
      const call = { caller, requestId, deadline, signal };
      const [definitions, deployments] = await Promise.all([
        bus.call(catalogContract.rpcs['limits.ofDefinitions'], {}, call),
        bus.call(runtimeContract.rpcs['limits.ofDeployments'], {}, call),
      ]);
      return { data: { requests, definitions, deployments } };
    },
  };
};

const requestLimitsOf = ({ limits, deadlineMs, runDeadlineMs, rates }: GatewayConfig): RequestLimits => ({
  bodyBytes: limits.bodyLimit,
  jsonDepth: limits.jsonDepth,
  pageEntries: MAX_LIMIT,
  pageDepth: MAX_DEPTH,
  answerSeconds: deadlineMs / 1000,
  modelAnswerSeconds: runDeadlineMs / 1000,
  rates: rates === undefined ? null : ratesOf(rates),
});

const ratesOf = ({ key, address, wallet, signIn }: RatePolicies) => ({
  keyPerSecond: key.perSecond,
  keyBurst: key.burst,
  publicPerAddressPerMinute: address.burst,
  publicPerWalletPerMinute: wallet.burst,
  signInPerAddressPerMinute: signIn.burst,
});
