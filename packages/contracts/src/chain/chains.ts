import { z } from 'zod';
import { pageQuery } from '../paging/pagination.js';
import { listOperation } from '../rpc/operation.js';

export const chainFamily = z
  .enum(['evm', 'solana'])
  .meta({ id: 'ChainFamily', description: 'The kind of a chain: an EVM chain or Solana.' });
export type ChainFamily = z.infer<typeof chainFamily>;

/** Bytes of a push's content as canonical JSON; a larger one goes as its digest alone. */
export const CONTENT_BYTES: Readonly<Record<ChainFamily, number>> = { evm: 8192, solana: 566 };

export const chainRecord = z
  .strictObject({
    name: z.string().describe('What bindings name it by, in `targetChains`.'),
    caip2: z.string().describe('Its CAIP-2 id, such as `eip155:84532`.'),
    family: chainFamily.describe('What kind of chain it is.'),
    status: z.enum(['available', 'unavailable']).describe('`unavailable`: pushes to it wait.'),
    limits: z
      .strictObject({
        contentBytes: z
          .int()
          .min(1)
          .describe(
            'Bytes of the content of a push as canonical JSON; a larger one is pushed as its digest alone.',
          ),
        pushesPerTransaction: z.int().min(1).describe('Pushes that one transaction carries at most.'),
      })
      .describe('What fits on the chain.'),
  })
  .meta({ id: 'Chain', description: 'A chain that executions can be pushed to.' });
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
    query: pageQuery,
    item: chainRecord,
  }),
};
