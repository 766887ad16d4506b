import { createMeter } from '@orrery/service-kit';

const payments = createMeter('runtime').createCounter('orrery_runtime_payments', {
  description:
    'Payments by how they ended: settled, refused, unknown, and later uncollected or charged_after_refusal',
});

/** Counts a payment when its status becomes this. */
export const countPayment = (
  status: 'settled' | 'refused' | 'unknown' | 'uncollected' | 'charged_after_refusal',
): void => payments.add(1, { status });
