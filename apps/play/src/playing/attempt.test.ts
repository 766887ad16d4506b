import { OrreryError, type Payer } from '@orrery/sdk';
import { expect, it, vi } from 'vitest';
import { CannotPay, type PlayerWallet } from '../wallets/wallets.js';
import { createAttempt, isUnknown } from './attempt.js';

const error = (code: string, status: number, facts = {}) =>
  new OrreryError({ code, status, facts, detail: code });
const FIRST = { wasUnknown: false, isCalled: false };
const AGAIN = { wasUnknown: true, isCalled: false };

it.each([
  [error('network_error', 0), true],
  [error('http_error', 500), true],
  [error('http_error', 502), true],
  [error('internal_error', 500), true],
  [error('request_in_flight', 409), true],
  [error('unavailable', 503, { outcome: 'unknown' }), true],
  // A run that has failed: its entry says so.
  [error('ai_output_invalid', 502, { historyId: 'h', seq: 7 }), false],
  [error('ai_model_unavailable', 503, { historyId: 'h', seq: 7 }), false],
  [error('deadline_exceeded', 504, { historyId: 'h', seq: 7 }), false],
  [error('invalid_input', 400), false],
  [error('rate_limited', 429), false],
  [new Error('You have refused in your wallet.'), false],
])('knows what became of a play from what says so (%#)', (given, unknown) => {
  expect(isUnknown(given, FIRST)).toBe(unknown);
});

it.each([
  [error('rate_limited', 429), true],
  [error('http_error', 403), true],
  [error('deployment_not_found', 404), true],
  [error('message_expired', 401), false],
  [error('deployment_paused', 409), false],
  [error('template_failed', 400, { historyId: 'h', seq: 7 }), false],
])(
  'learns nothing of an earlier request from a refusal that comes before the look (%#)',
  (given, unknown) => {
    expect(isUnknown(given, AGAIN)).toBe(unknown);
  },
);

it.each([
  [error('deployment_paused', 409), true],
  [error('payment_refused', 402), false],
  [error('payment_already_used', 402), false],
])('learns of a payment that is the call from what is said of the payment alone (%#)', (given, unknown) => {
  expect(isUnknown(given, { ...AGAIN, isCalled: true })).toBe(unknown);
});

/** A client whose answers were all lost, after it has asked for the payment. */
function playing(more: { payer?: Payer; caller?: Payer } = {}) {
  const executePublic = vi.fn(async ({ payer }: { by?: unknown; payer?: Payer }) => {
    const payment = await payer?.createPaymentPayload({} as never);
    return Promise.reject({ ...error('network_error', 0), payment });
  });
  const signMessage = vi.fn(async () => ({ message: String(signMessage.mock.calls.length) }));
  const attempt = createAttempt(
    {
      deployment: '0x1',
      event: 'toast',
      input: {},
      wallet: { kind: 'made', address: 'A', by: {} } as unknown as PlayerWallet,
      payer: more.payer,
      caller: more.caller,
      onAwaitingPayment: () => undefined,
    },
    { executePublic, signMessage } as never,
  );
  return { attempt, executePublic, signMessage };
}

const paying = (pay: () => Promise<object>) => ({ createPaymentPayload: vi.fn(pay) });

it('is signed once and paid once, however often it is sent', async () => {
  const payer = paying(async () => ({ nonce: payer.createPaymentPayload.mock.calls.length }));
  const { attempt, executePublic, signMessage } = playing({ payer });
  const told = [await attempt.send().catch((one) => one), await attempt.send().catch((one) => one)];
  expect(told).toMatchObject([{ payment: { nonce: 1 } }, { payment: { nonce: 1 } }]);
  expect(executePublic.mock.calls.map(([{ by }]) => by)).toEqual([{ message: '1' }, { message: '1' }]);
  expect(signMessage).toHaveBeenCalledTimes(1);
});

it('is signed only where the account of the player cannot pay', async () => {
  const caller = paying(async () => ({}));
  const called = playing({ caller });
  await called.attempt.send().catch(() => undefined);
  expect(called.signMessage).not.toHaveBeenCalled();
  const other = paying(async () => Promise.reject(new CannotPay('Other networks alone.')));
  const payer = paying(async () => ({ on: 'solana' }));
  const signed = playing({ caller: other, payer });
  expect(await signed.attempt.send().catch((one) => one)).toMatchObject({ payment: { on: 'solana' } });
  expect(signed.executePublic.mock.calls.map(([{ by }]) => by)).toEqual([undefined, { message: '1' }]);
});

it('has sent nothing where no payment could be made, and tries that again', async () => {
  const payer = paying(async () => {
    if (payer.createPaymentPayload.mock.calls.length === 1) throw error('network_error', 0);
    return { nonce: 1 };
  });
  const { attempt } = playing({ payer });
  const unpaid = await attempt.send().catch((one) => one);
  expect(unpaid.message).toBe('network_error');
  expect(attempt.isUnknownAfter(unpaid, false)).toBe(false);
  expect(await attempt.send().catch((one) => one)).toMatchObject({ payment: { nonce: 1 } });
});
