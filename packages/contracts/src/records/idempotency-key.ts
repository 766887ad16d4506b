import { z } from 'zod';

const unquoted = (text: string): string => text.replace(/^"(.*)"$/, '$1');

/** `Idempotency-Key`, quoted or bare: 1–255 printable ASCII characters without quotes. */
export const idempotencyKey = z
  .string()
  .regex(
    /^(?:[\x20\x21\x23-\x7e]{1,255}|"[\x20\x21\x23-\x7e]{1,255}")$/,
    'An idempotency key has 1 to 255 printable ASCII characters and no quotes.',
  )
  .meta({ description: 'A repeated request with the same key gets the first response, for 24 hours' })
  .transform(unquoted);

/** Headers of an operation that may be repeated safely. */
export const idempotentHeaders = z.strictObject({ 'idempotency-key': idempotencyKey.optional() });
