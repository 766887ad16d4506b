import { describe, expect, it } from 'vitest';
import { encodeJson, paymentHeaders, readPayment, readPaymentMember } from './payment-headers.js';

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

  it('may be a member of a message, as an object or as the text of a header', () => {
    const payload = { x402Version: 2, payload: { signature: '0x' } };
    expect(readPaymentMember('pay', undefined)).toBeNull();
    for (const given of [payload, encodeJson(payload)])
      expect(readPaymentMember('pay', given)).toEqual({ version: 2, payload });
  });

  it.each([
    null,
    7,
    'x',
    [],
    { x402Version: 1 },
    encodeJson({ x402Version: 1 }),
    { x402Version: 2, text: '\ud800' },
    { x402Version: 2, long: 'x'.repeat(6200) },
    JSON.parse('{"x402Version":2,"__proto__":{}}'),
  ])('is refused as a member of a message: %j', (given) => {
    expect(() => readPaymentMember('pay', given)).toThrow('pay takes a payment of x402 version 2');
  });
});
