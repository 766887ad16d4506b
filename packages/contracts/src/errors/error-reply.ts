import { z } from 'zod';
import { isErrorCode } from './error-table.js';
import { ServiceError } from './service-error.js';

/** How an error travels over the bus. */
export const errorReply = z.object({
  code: z.string(),
  detail: z.string(),
  errors: z.array(z.object({ pointer: z.string(), code: z.string(), message: z.string() })),
  facts: z.record(z.string(), z.json()),
});
export type ErrorReply = z.infer<typeof errorReply>;

export const toErrorReply = (error: ServiceError): ErrorReply => ({
  code: error.code,
  detail: error.message,
  errors: [...error.errors],
  facts: error.facts,
});

export function fromErrorReply(reply: ErrorReply): ServiceError {
  const code = isErrorCode(reply.code) ? reply.code : 'internal';
  return new ServiceError(code, reply.detail, { errors: reply.errors, facts: reply.facts });
}
