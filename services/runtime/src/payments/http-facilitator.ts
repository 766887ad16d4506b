import type { Logger } from '@orrery/service-kit';
import type { SettleError, SettleResponse, VerifyError } from '@x402/core/types';
import { facilitatorError } from './facilitator-error.js';
import type { Facilitator, Payment, SettlementReply } from './payment.js';
import { codeOfReason, codeOfText, saysUnsent } from './payment-reasons.js';
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
      return isValid ? undefined : (codeOfReason(invalidReason) ?? 'invalid');
    },
    settle: async (payment, timeoutMs) => {
      try {
        const client = await clientFor(Math.max(1, Math.floor(timeoutMs)));
        const settle = () => client.settle(...bodyOf(payment));
        return replyOf(await callFacilitator(url, 'settle', payment.requirement.network, settle));
      } catch (error) {
        const reply = replyOfFailure(error);
        if (reply.kind !== 'refused')
          logger.warn(
            { err: facilitatorError(error), payment: payment.key },
            'the facilitator gave no clear reply to a settlement',
          );
        return reply;
      }
    },
    feePayer: async ({ network, caip2 }) => {
      const client = await clientFor(READ_TIMEOUT_MS);
      const supported = () => client.getSupported().catch(failed);
      const { kinds } = await callFacilitator(url, 'supported', network, supported);
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

function failed(error: unknown): never {
  throw facilitatorError(error);
}

/** An answer that refuses with a status of 4xx is as good as one with 200; any other failure leaves open what was sent. */
function replyOfFailure(error: unknown): SettlementReply {
  const reply = replyOf(error as Partial<SettleError>);
  const { status } = facilitatorError(error);
  if (status === undefined) return { kind: 'silent', reason: 'no_reply' };
  return reply.kind === 'refused' && !isRefusal(status) ? { ...reply, kind: 'unclear' } : reply;
}

/** A refusal may come with a status of 4xx; anything else but 200 is a failure of the facilitator. */
const isRefusal = (status: number | undefined): boolean =>
  status !== undefined && status >= 400 && status < 500 && status !== 408 && status !== 429;

function judgedInvalid(error: unknown): { isValid: false; invalidReason: string } {
  const { statusCode, invalidReason } = error as Partial<VerifyError>;
  if (isRefusal(statusCode) && invalidReason !== undefined) return { isValid: false, invalidReason };
  return failed(error);
}

/** Codes of checks that come before anything is sent, and those that also stand for a transaction on its way. */
const BEFORE_SENDING =
  /invalid|insufficient|unsupported|expired|already_used|authorization_|simulation_|verification_/i;
const MAY_BE_SENT =
  /transaction_failed|transaction_state|transfer_event|unexpected|settle|timeout|confirm|internal/i;

type Reply = Partial<Pick<SettleResponse, 'success' | 'transaction' | 'errorReason' | 'errorMessage'>>;

/** A refusal without a reason does not say that nothing was sent. */
function replyOf({ success, transaction: named, errorReason, errorMessage }: Reply): SettlementReply {
  const transaction = named && HASH.test(named) ? named : undefined;
  if (success === true) return { kind: 'settled', transaction };
  if (transaction === undefined && (saysUnsent(errorReason) || saysUnsent(errorMessage)))
    return { kind: 'unclear', reason: 'not_sent', isUnsent: true };
  const code = codeOfReason(errorReason);
  if (code === undefined || transaction !== undefined)
    return { kind: 'unclear', reason: code ?? 'no_clear_reply', transaction };
  // The code stands for a transaction that was not sent, too: the text tells which.
  const failed = /transaction_failed/i.test(code) ? codeOfText(errorMessage) : undefined;
  if (failed !== undefined) return { kind: 'refused', reason: failed };
  return { kind: isBeforeSending(code) ? 'refused' : 'unclear', reason: code };
}

/** A duplicate is a call for what another call is settling. */
const isBeforeSending = (code: string): boolean =>
  code.startsWith('duplicate_') || (BEFORE_SENDING.test(code) && !MAY_BE_SENT.test(code));

/** A transaction of an EVM chain or of Solana. */
const HASH = /^(?:0x[0-9a-fA-F]{64}|[1-9A-HJ-NP-Za-km-z]{64,88})$/;

/** The library has types for version 2 alone; it sends both versions as they are. */
const bodyOf = (payment: Payment): [payload: never, requirements: never] => {
  const { paymentPayload, paymentRequirements } = inItsVersion(payment);
  return [paymentPayload as never, paymentRequirements as never];
};
