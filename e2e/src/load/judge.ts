import { ERRORS, isErrorCode } from '@orrery/contracts';

import type { Outcome } from './operation.js';
import type { Reply } from './send.js';

/** What one reply says of the operation: `running` where it goes on without its client. */
export type Said = Outcome | 'running';

/** Reads a reply as its documentation does (docs/gateway.md, docs/execution.md): what it does not say is not assumed. */
export function judge(reply: Reply): Said {
  if ('broken' in reply) return reply.wasSent ? 'unknown' : 'fail';
  const { status, body } = reply.answer;
  if (status === 202) return 'running';
  if (status < 300) return 'ok';
  const facts = body?.facts ?? {};
  const mayGoOn = facts.outcome === 'unknown' || facts.executionId !== undefined;
  return status === 500 || status === 504 || mayGoOn || body?.code === 'request_in_flight'
    ? 'unknown'
    : 'fail';
}

/** Whether the same request, sent again, may be answered otherwise. */
export function mayChange(reply: Reply): boolean {
  if ('broken' in reply) return true;
  const { status, body } = reply.answer;
  if (status < 300) return status === 202;
  return isErrorCode(body?.code) && ERRORS[body.code as keyof typeof ERRORS].retryable;
}

/** The same where failures are kept under the key, as those of models are: then only what nobody knows is asked again. */
export const isUndecided = (reply: Reply): boolean => judge(reply) === 'unknown';
