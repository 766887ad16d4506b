import { ServiceError } from '@orrery/contracts';
import { describe, expect, it } from 'vitest';
import { problemHeaders, problemOf } from './problem.js';

const where = { instance: '/api/worlds', requestId: 'r1' };

describe('a problem document', () => {
  it('has the code, its meaning, the text and the facts', () => {
    const error = new ServiceError('limit_reached', 'Too many.', { facts: { limit: 3 } });
    expect(problemOf(error, where)).toEqual({
      success: false,
      error: 'Too many.',
      code: 'limit_reached',
      type: 'urn:orrery:problem:limit_reached',
      title: 'A limit is reached',
      status: 409,
      detail: 'Too many.',
      facts: { limit: 3 },
      ...where,
    });
  });

  it('tells nothing of an internal error but its title', () => {
    const error = new ServiceError('internal', 'select * from secrets', { facts: { secret: 1 } });
    expect(JSON.stringify(problemOf(error, where))).not.toContain('secret');
  });

  it('tells clients of x402 what to pay, in body and header', () => {
    const facts = { accepts: [{ amount: '1' }], paymentRequired: { x402Version: 2 } };
    const error = new ServiceError('payment_required', 'Pay.', { facts });
    expect(problemOf(error, where)).toMatchObject({ x402Version: 1, accepts: [{ amount: '1' }] });
    expect(problemOf(error, where)).not.toHaveProperty('facts');
    expect(problemHeaders(error)).toEqual({
      'payment-required': Buffer.from('{"x402Version":2}').toString('base64'),
    });
  });

  it.each([
    ['unauthorized', undefined, { 'www-authenticate': 'Bearer realm="orrery"' }],
    ['invalid_signature', undefined, { 'www-authenticate': 'Wallet realm="orrery"' }],
    ['rate_limited', { retryAfterSeconds: 1.2 }, { 'retry-after': '2' }],
    ['unavailable', undefined, { 'retry-after': '1' }],
    ['world_not_found', undefined, {}],
  ] as const)('%s with %j has the headers %j', (code, facts, headers) => {
    const error = new ServiceError(code, undefined, facts && { facts });
    expect(problemHeaders(error)).toEqual(headers);
  });
});
