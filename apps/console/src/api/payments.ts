import type { components, Orrery } from '@orrery/sdk';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { deploymentPath } from './deployment-path.js';
import { deploymentKey } from './deployments.js';
import type { DeploymentRef } from './records.js';

export type Payment = components['schemas']['Payment'];
export type PaymentStatus = components['schemas']['PaymentStatus'];
export type PaymentTotal = components['schemas']['PaymentTotal'];

export interface PaymentsPage {
  readonly page: number;
  readonly status: PaymentStatus | undefined;
}

/** The payments of a deployment, newest first, with the totals of all of them. */
export const paymentsQuery = (orrery: Orrery, ref: DeploymentRef, { page, status }: PaymentsPage) =>
  queryOptions({
    queryKey: [...deploymentKey(ref), 'payments', { page, status }],
    queryFn: ({ signal }) =>
      orrery.answer('get', '/api/worlds/{worldAddress}/deployments/{address}/payments', {
        path: deploymentPath(ref),
        query: { page, limit: 50, ...(status && { status }) },
        signal,
      }),
    refetchInterval: 5000,
    placeholderData: keepPreviousData,
  });
