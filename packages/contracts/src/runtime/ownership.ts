import { z } from 'zod';
import { jsonValue } from '../json/json-schemas.js';
import { rpc } from '../rpc/rpc.js';

/**
 * One runtime process passes a call to the one that owns the deployment. The request travels as it came; the reply is
 * that of the RPC named. `not_owner`: look the owner up anew.
 */
export const ownershipRpcs = {
  'owner.forward': rpc({
    access: { scope: 'none', relation: 'internal' },
    errors: [],
    request: z.object({ name: z.string(), request: jsonValue }),
    reply: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('answered'), reply: jsonValue }),
      z.object({ kind: z.literal('not_owner') }),
    ]),
  }),
};
