import type { Logger } from '@orrery/service-kit';
import type { SettleError, SettleResponse, VerifyError } from '@x402/core/types';
import type { Facilitator, Payment, SettlementReply } from './payment.js';
import { inItsVersion } from './requirements.js';
import { callFacilitator } from './signals.js';

/** Milliseconds that the facilitator may take for what charges nobody. */
const READ_TIMEOUT_MS = 10_000;

/** The facilitator at an address. The library of x402 is loaded with the first payment. */
export function createHttpFacilitator(url: string, logger: Logger): Facilitator {
  const clientFor = async (timeoutMs: number) => {
    const { HTTPFacilitatorClient } = await import('@x402/core/http');
    return new HTTPFacilitatorClient({ url, timeoutMs });
  };
  return {
    verify: async (payment) => {
      const client = await clientFor(READ_TIMEOUT_MS);
      const { network } = payment.requirement;
      const verify = () => client.verify(...bodyOf(payment)).catch(judgedInvalid);
      const { isValid, invalidReason } = await callFacilitator(url, 'verify', network, verify);
      return isValid ? undefined : (invalidReason ?? 'invalid');
    },
    settle: async (payment, timeoutMs) => {
      try {
        const client = await clientFor(Math.max(1, Math.floor(timeoutMs)));
        const settle = () => client.settle(...bodyOf(payment));
        return replyOf(await callFacilitator(url, 'settle', payment.requirement.network, settle));
      } catch (error) {
        const refused = error as Partial<SettleError>;
        if (isRefusal(refused.statusCode) && refused.errorReason)
          return replyOf({ ...(refused as SettleError), success: false });
        logger.warn(
          { err: error, payment: payment.key },
          'the facilitator gave no clear reply to a settlement',
        );
        return { kind: 'unclear', reason: 'no_clear_reply' };
      }
    },
    feePayer: async ({ network, caip2 }) => {
      const client = await clientFor(READ_TIMEOUT_MS);
      const { kinds } = await callFacilitator(url, 'supported', network, () => client.getSupported());
      const found = kinds.find(
        (kind) =>
          kind.scheme === 'exact' &&
          (kind.network === network || kind.network === caip2) &&
          kind.extra?.['feePayer'],
      );
      const feePayer = found?.extra?.['feePayer'];
      if (typeof feePayer !== 'string') throw new Error(`the facilitator pays no fees on ${network}`);
      return feePayer;
    },
  };
}

/** A refusal may come with a status of 4xx; anything else but 200 is a failure of the facilitator. */
const isRefusal = (status: number | undefined): boolean =>
  status !== undefined && status >= 400 && status < 500 && status !== 408 && status !== 429;

function judgedInvalid(error: unknown): { isValid: false; invalidReason: string } {
  const { statusCode, invalidReason } = error as Partial<VerifyError>;
  if (isRefusal(statusCode) && invalidReason !== undefined) return { isValid: false, invalidReason };
  throw error;
}

/**
 * Reasons after which the transaction may be on its way. All others come from a check before it is sent; they are final
 * once the chain shows no charge.
 */
const MAY_BE_SENT =
  /transaction_failed|transaction_state|transfer_event|unexpected|settle|timeout|confirm|internal/i;

/** A refusal without a reason does not say that nothing was sent. */
function replyOf({ success, transaction, errorReason }: SettleResponse): SettlementReply {
  if (success) return { kind: 'settled', transaction };
  if (!errorReason) return { kind: 'unclear', reason: 'no_reason', ...(transaction && { transaction }) };
  if (transaction) return { kind: 'unclear', reason: errorReason, transaction };
  return { kind: MAY_BE_SENT.test(errorReason) ? 'unclear' : 'refused', reason: errorReason };
}

/** The library has types for version 2 alone; it sends both versions as they are. */
const bodyOf = (payment: Payment): [payload: never, requirements: never] => {
  const { paymentPayload, paymentRequirements } = inItsVersion(payment);
  return [paymentPayload as never, paymentRequirements as never];
};
