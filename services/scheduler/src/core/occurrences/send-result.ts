import {
  ERRORS,
  type ErrorCode,
  type ExecutionError,
  isErrorCode,
  type JsonValue,
  ServiceError,
  type ServiceExecution,
} from '@orrery/contracts';
import type { FailedAttempt } from './occurrence.js';

/** What one sending of an attempt led to. */
export type SendResult =
  | {
      readonly kind: 'succeeded';
      readonly historyId: string;
      readonly seq: number;
      readonly result: JsonValue;
    }
  | (FailedAttempt & { readonly kind: 'failed' })
  /** Not executed, and it will not be. */
  | { readonly kind: 'skipped'; readonly reason: string }
  /** Something else is bound now than the occurrence was made for. */
  | { readonly kind: 'changed' }
  /** Nobody knows yet. The same attempt is sent again. */
  | { readonly kind: 'unknown'; readonly error: unknown };

export function resultOf(execution: ServiceExecution): SendResult {
  if (execution.state === 'running') return { kind: 'unknown', error: undefined };
  const { historyId, seq } = execution;
  return execution.status === 'succeeded'
    ? { kind: 'succeeded', historyId, seq, result: execution.answer.result ?? null }
    : { kind: 'failed', error: execution.error, entry: { historyId, seq } };
}

/** Refusals that say that the occurrence was made for something else than what is there. */
const CHANGED: ReadonlySet<string> = new Set<ErrorCode>([
  'binding_changed',
  'event_not_bound',
  'deployment_not_found',
  'unknown_event_version',
]);

/** An error that was answered with a refusal is final; one that may pass, or says nothing, is not. */
export function resultOfError(error: unknown): SendResult {
  if (!(error instanceof ServiceError)) return { kind: 'unknown', error };
  if (CHANGED.has(error.code)) return { kind: 'changed' };
  if (error.code === 'deployment_paused') return { kind: 'skipped', reason: 'deployment_paused' };
  if (error.retryable || error.code === 'internal') return { kind: 'unknown', error };
  return { kind: 'failed', error: { code: error.code, detail: error.message }, entry: null };
}

/** Whether an execution that failed for this reason may succeed later without being changed. */
export const mayRetry = ({ code }: ExecutionError): boolean => isErrorCode(code) && ERRORS[code].retryable;
