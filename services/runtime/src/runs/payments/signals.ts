import { createMeter, createTracer, inCallSpan } from '@orrery/service-kit';

const payments = createMeter('runtime').createCounter('orrery_runtime_payments', {
  description:
    'Payments by outcome: settled, refused, refund_due, uncollected; awaiting when their settlement is unclear',
});

/** Counts a payment when this becomes of it. */
export const countPayment = (
  status: 'settled' | 'refused' | 'refund_due' | 'uncollected' | 'awaiting',
): void => payments.add(1, { status });

/** Calls a node of a chain, as a span of the execution that is paid for. */
export const callNode = <T>(url: string, method: string, call: () => Promise<T>): Promise<T> => {
  const attributes = { 'rpc.system.name': 'jsonrpc', 'rpc.method': method };
  return inCallSpan(createTracer('runtime'), method, { url, attributes }, call);
};

/** Calls the facilitator, likewise. */
export const callFacilitator = <T>(
  url: string,
  operation: 'verify' | 'settle' | 'supported',
  network: string,
  call: () => Promise<T>,
): Promise<T> => {
  const attributes = { 'orrery.payment.network': network };
  return inCallSpan(createTracer('runtime'), `x402 ${operation}`, { url, attributes }, call);
};
