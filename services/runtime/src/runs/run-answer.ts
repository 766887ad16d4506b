import {
  type ErrorReply,
  type ExecutionAnswer,
  type ExecutionRecord,
  fromErrorReply,
  type JsonObject,
} from '@orrery/contracts';
import { executionErrorOf } from '../journal/entry-error.js';
import { hasEnded, type RunRow } from './run-row.js';

/** What one who does not wait is told, each time. */
export const acceptedAnswer = (executionId: string) => ({ executionId, state: 'running' as const });

/** The answer of a run that has ended, for the one who waits. @throws what it failed with */
export function answerOfRun({ reply, error }: RunRow): ExecutionAnswer {
  if (error !== null) throw fromErrorReply(error as unknown as ErrorReply);
  // Stored as the execution answered it.
  return reply as unknown as ExecutionAnswer;
}

/** A run as it is looked up. */
export function recordOfRun(row: RunRow): ExecutionRecord {
  const executionId = row.id;
  if (!hasEnded(row)) return acceptedAnswer(executionId);
  if (row.error === null) return { executionId, state: 'succeeded', answer: answerOfRun(row) };
  const { facts, ...error } = executionErrorOf(fromErrorReply(row.error as unknown as ErrorReply));
  return { executionId, state: 'failed', error: { ...error, ...(facts && { facts: facts as JsonObject }) } };
}
