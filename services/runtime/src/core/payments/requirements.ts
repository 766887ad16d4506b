import type { JsonObject, PaymentDemand } from '@orrery/contracts';
import type { Payment, PaymentAsset, Requirement, Resource } from './payment.js';

/**
 * A price in the smallest unit of an asset, as decimal digits. A number stands for the decimal text that JSON has for it;
 * no step uses floating point. What is left over is rounded up.
 *
 * @param priceUsd US dollars, 0 or more; one dollar is one unit of the asset
 */
export function smallestUnits(priceUsd: number, decimals: number): string {
  const [digits = '0', exponent = '0'] = String(priceUsd).split('e');
  const [whole = '0', fraction = ''] = digits.split('.');
  const value = BigInt(whole + fraction);
  const scale = decimals + Number(exponent) - fraction.length;
  if (scale >= 0) return String(value * 10n ** BigInt(scale));
  const divisor = 10n ** BigInt(-scale);
  return String((value + divisor - 1n) / divisor);
}

/** What is to be paid to one receiver for one execution, whatever the asset. */
export interface Price {
  readonly priceUsd: number;
  readonly payTo: string;
  readonly maxTimeoutSeconds: number;
}

/** The requirement in one asset; `extra` is what its family adds. */
export const requirementOf = (
  { network, caip2, family, asset, decimals }: PaymentAsset,
  { priceUsd, payTo, maxTimeoutSeconds }: Price,
  extra: JsonObject,
): Requirement => ({
  network,
  caip2,
  family,
  asset,
  decimals,
  amount: smallestUnits(priceUsd, decimals),
  payTo,
  maxTimeoutSeconds,
  extra,
});

const requirementV1 = (
  { network, asset, amount, payTo, maxTimeoutSeconds, extra }: Requirement,
  { url, description }: Resource,
) => ({
  scheme: 'exact',
  network,
  maxAmountRequired: amount,
  resource: url,
  description,
  mimeType: 'application/json',
  payTo,
  maxTimeoutSeconds,
  asset,
  extra,
});

/** A requirement in the form of x402 version 2. */
export const requirementV2 = ({ caip2, asset, amount, payTo, maxTimeoutSeconds, extra }: Requirement) => ({
  scheme: 'exact',
  network: caip2,
  asset,
  amount,
  payTo,
  maxTimeoutSeconds,
  extra,
});

/** A payment and its requirement in the form of the payment's own version, as the facilitator takes them. */
export function inItsVersion({ x402Version, requirement, resource, payload, extensions }: Payment) {
  if (x402Version === 1)
    return {
      paymentPayload: { x402Version, scheme: 'exact', network: requirement.network, payload },
      paymentRequirements: requirementV1(requirement, resource),
    };
  const accepted = requirementV2(requirement);
  return {
    paymentPayload: {
      x402Version,
      accepted,
      payload,
      resource: resourceV2(resource),
      ...(extensions && { extensions }),
    },
    paymentRequirements: accepted,
  };
}

const resourceV2 = ({ url, description, serviceName, tags }: Resource) => ({
  url,
  description,
  mimeType: 'application/json',
  ...(serviceName && { serviceName }),
  ...(tags && { tags: [...tags] }),
});

/** The facts of a 402: the same requirements in both versions of x402. */
export const demandOf = (
  requirements: readonly Requirement[],
  resource: Resource,
  reason: string,
): PaymentDemand => ({
  accepts: onePerNetwork(requirements).map((requirement) => requirementV1(requirement, resource)),
  paymentRequired: {
    x402Version: 2,
    error: reason,
    resource: resourceV2(resource),
    accepts: requirements.map(requirementV2),
    ...(resource.extensions && { extensions: { ...resource.extensions } }),
  },
});

/** A payment of version 1 names its network and not its asset: it is in the first one that is listed. */
const onePerNetwork = (requirements: readonly Requirement[]): Requirement[] =>
  requirements.filter(
    ({ network }, index) => requirements.findIndex((other) => other.network === network) === index,
  );
