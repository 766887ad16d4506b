import { z } from 'zod';

const unquoted = (text: string): string => text.replace(/^"(.*)"$/, '$1');

/** `Idempotency-Key`, quoted or bare: 1–255 printable ASCII characters without quotes. */
export const idempotencyKey = z
  .string()
  .regex(
    /^(?:[\x20\x21\x23-\x7e]{1,255}|"[\x20\x21\x23-\x7e]{1,255}")$/,
    'An idempotency key has 1 to 255 printable ASCII characters and no quotes.',
  )
  .meta({
    minLength: 1,
    maxLength: 257,
    description:
      '1 to 255 printable ASCII characters without quotes; quotes around them are left out. A repetition with the same ' +
      'key gets the first answer for 24 hours; another body with the same key is 422 `idempotency_key_reused`. Keys ' +
      'belong to an account, a method and a path.',
  })
  .transform(unquoted);

/** Headers of an operation that may be repeated safely. */
export const idempotentHeaders = z.strictObject({ 'idempotency-key': idempotencyKey.optional() });
