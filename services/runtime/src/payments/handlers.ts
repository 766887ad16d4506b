import { type Handlers, paginationOf, type paymentRpcs, refuseDeepPage } from '@orrery/contracts';
import type { Db } from '../database/db.js';
import type { DeploymentAccess } from '../deployments/deployment-directory.js';
import { listPayments, totalsOfPayments } from './payment-store.js';

export interface PaymentReadDependencies {
  readonly db: Db;
  readonly access: Pick<DeploymentAccess, 'owned'>;
}

export const paymentReads = ({ db, access }: PaymentReadDependencies): Handlers<typeof paymentRpcs> => ({
  'payments.list': async ({ params, query }, { caller }) => {
    const { id } = await access.owned(params, caller);
    refuseDeepPage(query);
    const [data, totals] = await Promise.all([listPayments(db, id, query), totalsOfPayments(db, id)]);
    const counted = totals.filter(({ status }) => query.status === undefined || query.status === status);
    const total = counted.reduce((sum, { payments }) => sum + payments, 0);
    return { data, totals, pagination: paginationOf(query, total) };
  },
});
