import type { Logger } from '@orrery/service-kit';
import type { Facilitator, SettlementReply } from '../../core/payments/payment.js';
import { codeOfReason, codeOfText, saysUnsent } from '../../core/payments/payment-reasons.js';
import {
  askFacilitator,
  contentOf,
  FacilitatorError,
  type Reply,
  settleAnswer,
  settleRefusal,
  supportedAnswer,
  verifyAnswer,
} from './facilitator-requests.js';
import { callFacilitator } from './signals.js';

const UNREADABLE = 'the facilitator gave an answer that cannot be read';

const failedWith = (status: number) =>
  new FacilitatorError(`the facilitator answered with the status ${status}`, status);

const unreadable = () => new FacilitatorError(UNREADABLE, 200);

/** What a call has failed with, without what the facilitator has sent. */
function facilitatorError(error: unknown): FacilitatorError {
  if (error instanceof FacilitatorError) return error;
  const { name, cause } = error as Partial<Error>;
  const { code } = (cause ?? error) as { code?: unknown };
  const what = typeof code === 'string' ? code : name;
  return new FacilitatorError(`the facilitator cannot be reached (${what})`, undefined);
}

const READ_TIMEOUT_MS = 10_000;

/** The facilitator at an address. */
export function createHttpFacilitator(url: string, logger: Logger): Facilitator {
  return {
    verify: async (payment) => {
      const verify = async () => {
        const asked = { url, content: contentOf(payment), timeoutMs: READ_TIMEOUT_MS };
        const { status, data } = await askFacilitator('verify', asked).catch(failed);
        const judged = verifyAnswer.safeParse(data).data;
        if (isOk(status)) return judged ?? failed(unreadable());
        const { invalidReason } = judged ?? {};
        return isRefusal(status) && invalidReason !== undefined
          ? { isValid: false, invalidReason }
          : failed(failedWith(status));
      };
      const { network } = payment.requirement;
      const { isValid, invalidReason } = await callFacilitator(url, 'verify', network, verify);
      return isValid ? undefined : (codeOfReason(invalidReason) ?? 'invalid');
    },
    settle: async (payment, timeoutMs) => {
      let refusal: Reply = {};
      const settle = async () => {
        const timeout = Math.max(1, Math.floor(timeoutMs));
        const asked = { url, content: contentOf(payment), timeoutMs: timeout };
        const { status, data } = await askFacilitator('settle', asked);
        if (isOk(status)) return settleAnswer.safeParse(data).data ?? failed(unreadable());
        refusal = settleRefusal.safeParse(data).data ?? {};
        throw failedWith(status);
      };
      try {
        return replyOf(await callFacilitator(url, 'settle', payment.requirement.network, settle));
      } catch (error) {
        const err = facilitatorError(error);
        const reply = replyOfFailure(err, refusal);
        if (reply.kind !== 'refused')
          logger.warn({ err, payment: payment.key }, 'the facilitator gave no clear reply to a settlement');
        return reply;
      }
    },
    feePayer: async ({ network, caip2 }) => {
      const supported = async () => {
        const asked = { url, timeoutMs: READ_TIMEOUT_MS };
        const { status, data } = await askFacilitator('supported', asked).catch(failed);
        if (!isOk(status)) throw failedWith(status);
        return supportedAnswer.safeParse(data).data ?? failed(unreadable());
      };
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
function replyOfFailure({ status }: FacilitatorError, refusal: Reply): SettlementReply {
  if (status === undefined) return { kind: 'silent', reason: 'no_reply' };
  const reply = replyOf({ ...refusal, success: false });
  return reply.kind === 'refused' && !isRefusal(status) ? { ...reply, kind: 'unclear' } : reply;
}

const isOk = (status: number): boolean => status >= 200 && status < 300;

/** A refusal may come with a status of 4xx; anything else but 200 is a failure of the facilitator. */
const isRefusal = (status: number): boolean =>
  status >= 400 && status < 500 && status !== 408 && status !== 429;

/** Codes of checks that come before anything is sent, and those that also stand for a transaction on its way. */
const BEFORE_SENDING =
  /invalid|insufficient|unsupported|expired|already_used|authorization_|simulation_|verification_/i;
const MAY_BE_SENT =
  /transaction_failed|transaction_state|transfer_event|unexpected|settle|timeout|confirm|internal/i;

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
