import { z } from 'zod';

/** Path parameters of everything in a world's deployments; each may be a numeric id or an address. */
export const worldPath = z.strictObject({ worldAddress: z.string() });
export const deploymentPath = z.strictObject({ worldAddress: z.string(), address: z.string() });
