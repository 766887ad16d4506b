import type { Logger } from '@orrery/service-kit';
import type { SettleError, SettleResponse, VerifyError } from '@x402/core/types';
import type { Facilitator, Payment, SettlementReply } from '../../core/payments/payment.js';
import { codeOfReason, codeOfText, saysUnsent } from '../../core/payments/payment-reasons.js';
import { inItsVersion } from '../../core/payments/requirements.js';
import { callFacilitator } from './signals.js';

/** A facilitator that cannot be asked, or whose answer says nothing. What it has sent may quote the key in its address. */
export class FacilitatorError extends Error {
  override readonly name = 'FacilitatorError';

  /** `status`: of its answer by HTTP; undefined where none came. */
  constructor(
    message: string,
    readonly status: number | undefined,
  ) {
    super(message);
  }
}

const STATUS = /^Facilitator \w+ failed \((\d{3})\)/;
const UNREADABLE = 'FacilitatorResponseError';

/** What a call of the x402 library has failed with, without what the facilitator has sent. */
function facilitatorError(error: unknown): FacilitatorError {
  if (error instanceof FacilitatorError) return error;
  const { name, message = '', statusCode, cause } = error as Partial<Error> & { statusCode?: unknown };
  if (name === UNREADABLE)
    return new FacilitatorError('the facilitator gave an answer that cannot be read', 200);
  const status =
    typeof statusCode === 'number' ? statusCode : Number(STATUS.exec(message)?.[1] ?? Number.NaN);
  if (Number.isInteger(status))
    return new FacilitatorError(`the facilitator answered with the status ${status}`, status);
  const { code = name } = (cause ?? error) as { code?: unknown };
  return new FacilitatorError(`the facilitator cannot be reached (${String(code)})`, undefined);
}

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

const HASH = /^(?:0x[0-9a-fA-F]{64}|[1-9A-HJ-NP-Za-km-z]{64,88})$/;

/** The library has types for version 2 alone; it sends both versions as they are. */
const bodyOf = (payment: Payment): [payload: never, requirements: never] => {
  const { paymentPayload, paymentRequirements } = inItsVersion(payment);
  return [paymentPayload as never, paymentRequirements as never];
};
