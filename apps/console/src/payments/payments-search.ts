import type { PaymentStatus } from '../api/payments.js';
import { defined, pageIn, wordIn } from '../ui/search-values.js';
import { STATUSES } from './payment-words.js';

/** What the address of the page holds. */
export interface PaymentsSearch {
  status?: PaymentStatus | undefined;
  page?: number | undefined;
}

export const readPaymentsSearch = (search: Record<string, unknown>): PaymentsSearch =>
  defined({ status: wordIn(search['status'], STATUSES), page: pageIn(search['page']) });
