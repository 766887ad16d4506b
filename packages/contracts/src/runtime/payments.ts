import { z } from 'zod';
import { DEPLOYMENT_PATH, IN_DEPLOYMENT } from '../names/names.js';
import { count, nullableText, ordinal, recordTimes, storedName } from '../records/fields.js';
import { MAX_LIMIT, pageQuery, pagination } from '../records/pagination.js';
import { operationsAt } from '../rpc/operation.js';

export const paymentStatus = z
  .enum([
    'reserved',
    'staged',
    'settling',
    'settled',
    'released',
    'refused',
    'refund_due',
    'unknown',
    'uncollected',
  ])
  .meta({
    id: 'PaymentStatus',
    description:
      'Where a payment stands (docs/payments.md). `reserved`, `staged` and `settling`: its execution is under way; ' +
      '`refund_due`: it was charged, its execution has failed, and the owner has to return it; `unknown`: an older release ' +
      'has executed it, and the chain is asked until it is `settled` or `uncollected`; the others are final.',
  });
export type PaymentStatus = z.infer<typeof paymentStatus>;

const what = {
  amount: z.string().describe('In the smallest unit of the asset, as decimal digits.'),
  decimals: count.describe('Decimal places of the asset: 6 means that one unit is a millionth.'),
  network: z.string().describe('Name of the network, by version 1 of x402.'),
  asset: z.string().describe('Address of the token.'),
};

export const entryPayment = z
  .strictObject({
    ...what,
    payTo: z.string().describe('Address that receives it.'),
    payer: z.string().describe('Address that pays it.'),
    status: paymentStatus.describe('Where it stands.'),
    transaction: nullableText.describe('The transaction on its chain. Null: not known yet, or none.'),
  })
  .meta({ id: 'EntryPayment', description: 'The payment of an execution.' });
export type EntryPayment = z.infer<typeof entryPayment>;

export const paymentRecord = z
  .strictObject({
    paymentKey: z.string().describe('What names the payment in the whole service.'),
    ...entryPayment.shape,
    event: storedName.describe('Name of the event that it pays for.'),
    wallet: z.string().describe('The wallet that signed the request, which need not be the payer.'),
    inputHash: z.string().describe('Hash of the input that it pays for.'),
    seq: ordinal.nullable().describe('Journal entry of the execution. Null: it is under way.'),
    reason: nullableText.describe(
      'A code for why it is not settled, such as `settled_elsewhere` (docs/payments.md). Null: none.',
    ),
    ...recordTimes,
  })
  .meta({ id: 'Payment', description: 'A payment for an execution in a deployment.' });
export type PaymentRecord = z.infer<typeof paymentRecord>;

export const paymentTotal = z
  .strictObject({
    ...what,
    status: paymentStatus.describe('Where these payments stand.'),
    payments: count.describe('How many they are.'),
  })
  .meta({
    id: 'PaymentTotal',
    description: 'All payments of a deployment in one asset that have one status; `amount` is their sum.',
  });
export type PaymentTotal = z.infer<typeof paymentTotal>;

const listed = operationsAt(DEPLOYMENT_PATH, 'Payments', IN_DEPLOYMENT).list(
  '/payments',
  'List the payments of a deployment, newest first, with the totals of each asset, also once it is deleted',
  {
    access: { scope: 'read', relation: 'owner' },
    query: z.strictObject({
      ...pageQuery.shape,
      status: paymentStatus.optional().describe('Only payments that stand like this.'),
    }),
    item: paymentRecord,
  },
);

export const solanaPaymentFacts = z
  .strictObject({
    network: z.string().describe('The network, by CAIP-2.'),
    asset: z.string().describe('Address of the token.'),
    decimals: count.describe('Decimal places of the token.'),
    tokenProgram: z.string().describe('Address of the program that the token belongs to.'),
    blockhash: z.string().describe('A blockhash of the last seconds, in base58.'),
    lastValidBlockHeight: count.describe('Height of the last block that a transaction with it may be in.'),
  })
  .meta({
    id: 'SolanaPaymentFacts',
    description: 'What a payment on Solana needs beside the answer 402, for pages that may ask no node.',
  });
export type SolanaPaymentFacts = z.infer<typeof solanaPaymentFacts>;

/** Without a key, as the execution that is paid for. */
export const solanaPaymentRpcs = {
  'payments.solana': operationsAt('/app/payments', 'Public execution', {
    access: { scope: 'none', relation: 'public' },
  }).read('/solana', 'Get what a payment on Solana needs beside the answer 402: a recent blockhash', {
    errors: ['unknown_chain'],
    query: z.strictObject({
      network: z.string().min(1).max(64).describe('`network` of one of `accepts` in the 402, by CAIP-2.'),
      asset: z.string().min(1).max(64).describe('`asset` of the same.'),
    }),
    data: solanaPaymentFacts,
  }),
};

export const paymentRpcs = {
  'payments.list': {
    ...listed,
    reply: z.strictObject({
      data: z.array(paymentRecord).max(MAX_LIMIT).describe('The payments of this page.'),
      totals: z.array(paymentTotal).describe('The sums of all payments, whatever the filter.'),
      pagination: pagination.describe('Which part of the list this page is.'),
    }),
  },
};
