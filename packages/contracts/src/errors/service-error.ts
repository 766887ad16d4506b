import { z } from 'zod';
import { type FieldProblem, type JsonObject, storableObject, storableText } from '../json/json.js';
import { ERRORS, type ErrorCode, isErrorCode } from './error-table.js';

export interface ServiceErrorDetails {
  /** Parts of the request that are wrong. */
  errors?: readonly FieldProblem[];
  /** Typed facts for programs; public, so never a secret. */
  facts?: JsonObject;
  cause?: unknown;
}

/**
 * An error that may leave the service: a code of the table and a full sentence that says what to do. Without a `detail`
 * the title of the code is the sentence.
 */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ErrorCode;
  readonly errors: readonly FieldProblem[];
  readonly facts: JsonObject;

  constructor(code: ErrorCode, detail?: string, details: ServiceErrorDetails = {}) {
    super(detail ?? `${ERRORS[code].title}.`, { cause: details.cause });
    this.code = code;
    this.errors = details.errors ?? [];
    this.facts = details.facts ?? {};
  }

  get retryable(): boolean {
    return ERRORS[this.code].retryable;
  }
}

/** Anything thrown, as a ServiceError: what is unknown becomes `internal`, its text kept as cause only. */
export const asServiceError = (error: unknown): ServiceError =>
  error instanceof ServiceError ? error : new ServiceError('internal', undefined, { cause: error });

/** How an error travels over the bus. */
export const errorReply = z.object({
  code: z.string(),
  detail: z.string(),
  errors: z.array(z.object({ pointer: z.string(), code: z.string(), message: z.string() })),
  facts: z.record(z.string(), z.json()),
});
export type ErrorReply = z.infer<typeof errorReply>;

/** The one way from an error to a row, a key's answer or the wire: a reason may quote text that PostgreSQL refuses. */
export const toErrorReply = (error: ServiceError): ErrorReply => ({
  code: error.code,
  detail: storableText(error.message),
  errors: error.errors.map(({ pointer, code, message }) => ({
    pointer: storableText(pointer),
    code,
    message: storableText(message),
  })),
  facts: storableObject(error.facts),
});

export function fromErrorReply(reply: ErrorReply): ServiceError {
  const code = isErrorCode(reply.code) ? reply.code : 'internal';
  return new ServiceError(code, reply.detail, { errors: reply.errors, facts: reply.facts });
}
