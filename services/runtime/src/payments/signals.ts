import { createMeter, createTracer, inCallSpan } from '@orrery/service-kit';

const payments = createMeter('runtime').createCounter('orrery_runtime_payments', {
  description:
    'Payments by how they ended: settled, refused, unknown, and later uncollected or charged_after_refusal',
});

/** Counts a payment when its status becomes this. */
export const countPayment = (
  status: 'settled' | 'refused' | 'unknown' | 'uncollected' | 'charged_after_refusal',
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
