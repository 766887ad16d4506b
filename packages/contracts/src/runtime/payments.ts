import { z } from 'zod';
import { pageQuery, pagination } from '../paging/pagination.js';
import { timestamp } from '../records/text.js';
import { operation } from '../rpc/operation.js';
import { deploymentPath } from './deployment-path.js';

/**
 * Where a payment stands (docs/payments.md). `reserved`, `staged` and `settling` belong to an execution that is under
 * way; `unknown` is asked for on the chain until it is `settled` or `uncollected`; the others are final.
 */
export const paymentStatus = z
  .enum(['reserved', 'staged', 'settling', 'settled', 'released', 'refused', 'unknown', 'uncollected'])
  .meta({ id: 'PaymentStatus' });
export type PaymentStatus = z.infer<typeof paymentStatus>;

const what = {
  /** In the smallest unit of the asset, as decimal digits. */
  amount: z.string(),
  decimals: z.int(),
  /** The name of the network in version 1 of x402. */
  network: z.string(),
  /** The address of the token. */
  asset: z.string(),
};

/** The payment of an execution, as its history entry shows it. */
export const entryPayment = z
  .strictObject({
    ...what,
    payTo: z.string(),
    payer: z.string(),
    status: paymentStatus,
    /** On its chain; null until it is known. */
    transaction: z.string().nullable(),
  })
  .meta({ id: 'EntryPayment' });
export type EntryPayment = z.infer<typeof entryPayment>;

export const paymentRecord = z
  .strictObject({
    paymentKey: z.string(),
    ...entryPayment.shape,
    event: z.string(),
    /** The wallet that signed the request, which need not be the payer. */
    wallet: z.string(),
    inputHash: z.string(),
    /** Of the history entry of the execution; null while it is under way. */
    seq: z.int().nullable(),
    /** Why it was refused or not collected. */
    reason: z.string().nullable(),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'Payment' });
export type PaymentRecord = z.infer<typeof paymentRecord>;

/** All payments of a deployment in one asset that have one status. */
export const paymentTotal = z
  .strictObject({ ...what, status: paymentStatus, payments: z.int() })
  .meta({ id: 'PaymentTotal' });
export type PaymentTotal = z.infer<typeof paymentTotal>;

const listed = operation({
  http: {
    method: 'GET',
    path: '/api/worlds/:worldAddress/deployments/:address/payments',
    status: 200,
    tag: 'Payments',
    summary: 'List the payments of a deployment, newest first, with the totals of each asset',
  },
  access: { scope: 'read', relation: 'owner' },
  errors: ['deployment_not_found', 'page_too_deep'],
  params: deploymentPath,
  query: z.strictObject({ ...pageQuery.shape, status: paymentStatus.optional() }),
  data: z.array(paymentRecord),
});

export const paymentRpcs = {
  'payments.list': {
    ...listed,
    reply: z.strictObject({
      data: z.array(paymentRecord),
      /** Of all payments, whatever the filter. */
      totals: z.array(paymentTotal),
      pagination,
    }),
  },
};
