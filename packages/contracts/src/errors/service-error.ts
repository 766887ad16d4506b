import type { JsonObject } from '../json/json-value.js';
import { ERRORS, type ErrorCode } from './error-table.js';
import type { FieldProblem } from './field-problem.js';

export interface ServiceErrorDetails {
  /** Places of the request that are wrong. */
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
