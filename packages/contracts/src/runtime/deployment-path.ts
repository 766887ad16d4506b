import { z } from 'zod';

/** Path parameters of everything in a world's deployments; each may be a numeric id or an address. */
export const worldPath = z.strictObject({ worldAddress: z.string() });
export const deploymentPath = z.strictObject({ worldAddress: z.string(), address: z.string() });

/** `Idempotency-Key`, quoted or bare; kept 24 h per account, method and path (decisions §4). */
export const idempotencyHeaders = z.strictObject({
  'idempotency-key': z.string().min(1).max(255).optional(),
});
