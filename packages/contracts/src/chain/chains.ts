import { z } from 'zod';
import { wholePageQuery } from '../paging/pagination.js';
import { listOperation } from '../rpc/operation.js';

export const chainFamily = z.enum(['evm', 'solana']).meta({ id: 'ChainFamily' });
export type ChainFamily = z.infer<typeof chainFamily>;

/** Bytes of a push's content as canonical JSON; a larger one goes as its digest alone. */
export const CONTENT_BYTES: Readonly<Record<ChainFamily, number>> = { evm: 8192, solana: 566 };

export const chainRecord = z
  .strictObject({
    name: z.string(),
    caip2: z.string(),
    family: chainFamily,
    /** `unavailable`: pushes to it wait. */
    status: z.enum(['available', 'unavailable']),
    limits: z.strictObject({
      /** Bytes of a push's content as canonical JSON; a larger one is pushed as its digest alone. */
      contentBytes: z.int(),
      /** Pushes that one transaction carries at most. */
      pushesPerTransaction: z.int(),
    }),
  })
  .meta({ id: 'Chain' });
export type ChainRecord = z.infer<typeof chainRecord>;

export const chainRpcs = {
  'chains.list': listOperation({
    http: {
      method: 'GET',
      path: '/api/chains',
      status: 200,
      tag: 'Chains',
      summary: 'List the chains that bindings may name',
    },
    access: { scope: 'read', relation: 'account' },
    errors: ['page_too_deep'],
    query: wholePageQuery,
    item: chainRecord,
  }),
};
