import { describe, expect, it } from 'vitest';
import { encodeJson, paymentHeaders, readPayment } from './payment-headers.js';

const read = (...rawHeaders: string[]) => readPayment({ rawHeaders });

describe('the payment of a request', () => {
  it('is read of the header of its version', () => {
    expect(read('Accept', '*/*')).toBeNull();
    expect(read('X-Payment', encodeJson({ x402Version: 1 }))).toEqual({
      version: 1,
      payload: { x402Version: 1 },
    });
    expect(read('PAYMENT-SIGNATURE', encodeJson({ x402Version: 2 }))).toMatchObject({ version: 2 });
  });

  it.each([
    [encodeJson({ x402Version: 2 }), /x402Version is 1/],
    [encodeJson([]), /JSON object/],
    ['{}', /base64/],
    ['A'.repeat(8193), /at most 8192/],
    [Buffer.from('{"x402Version":1,"__proto__":{}}').toString('base64'), /JSON object/],
  ])('is refused: %s', (text, reason) => {
    expect(() => read('x-payment', text)).toThrow(reason);
  });

  it('is sent once', () => {
    const one = encodeJson({ x402Version: 1 });
    expect(() => read('x-payment', one, 'X-PAYMENT', one)).toThrow('Send one payment');
  });

  it('is answered in the header of its version', () => {
    const response = { success: true };
    expect(paymentHeaders({ version: 1, response })).toEqual({ 'x-payment-response': encodeJson(response) });
    expect(paymentHeaders({ version: 2, response })).toEqual({ 'payment-response': encodeJson(response) });
  });
});
