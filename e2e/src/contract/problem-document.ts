import { z } from 'zod';

/** An RFC 9457 document with the members of the envelope; no other members are allowed (docs/gateway.md). */
const members = {
  success: z.literal(false),
  error: z.string().min(1),
  code: z.string(),
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string().min(1),
  instance: z.string().startsWith('/'),
  requestId: z.string().min(1),
  errors: z
    .array(z.strictObject({ pointer: z.string(), code: z.string(), message: z.string() }))
    .min(1)
    .optional(),
};

export const problemDocument = z.strictObject({
  ...members,
  facts: z.record(z.string(), z.json()).optional(),
});

/** x402 clients find their requirements at the top of a 402. */
export const paymentProblem = z.strictObject({
  ...members,
  facts: z.record(z.string(), z.json()).optional(),
  x402Version: z.literal(1),
  accepts: z.array(z.looseObject({ network: z.string(), payTo: z.string() })),
});
