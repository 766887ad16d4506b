import { z } from 'zod';
import { storableObject, storableText } from '../json/storable.js';
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
