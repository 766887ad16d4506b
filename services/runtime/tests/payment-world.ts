import { randomBytes } from 'node:crypto';
import type { JsonObject, OfferedPayment, PaymentDemand } from '@orrery/contracts';
import type { Charge, Payment, SettlementReply } from '../src/payments/payment.js';
import type { PaymentParties } from '../src/payments/payments.js';

export const RECEIVER = '0x1111111111111111111111111111111111111111';

/** What the facilitator does with a settlement. */
export type Conduct =
  | 'settles'
  | 'refuses'
  | 'unreachable'
  | 'drops its reply'
  | 'lies about success'
  | 'lies about refusal';

const hex = (bytes: number) => `0x${randomBytes(bytes).toString('hex')}`;

/** A facilitator and a chain in memory, with a ledger that the test reads: who was charged how often. */
export function createPaymentWorld() {
  const charges = new Map<string, string[]>();
  const calls = { verify: 0, settle: 0, look: 0 };
  const world = {
    conduct: 'settles' as Conduct,
    invalid: undefined as string | undefined,
    isVerifyDown: false,
    isChainDown: false,
    /** Payments that can no longer be charged. */
    isOver: false,
    /** Awaited before a settlement takes effect, with the number of its call. */
    beforeSettling: undefined as ((call: number) => Promise<void>) | undefined,
    /** Awaited before the reply of a settlement. */
    beforeReply: undefined as ((call: number) => Promise<void>) | undefined,
  };
  const charge = ({ key }: Payment): string => {
    const [known] = charges.get(key) ?? [];
    if (known !== undefined) return known;
    const transaction = hex(32);
    charges.set(key, [transaction]);
    return transaction;
  };
  const settleNow = (payment: Payment): SettlementReply => {
    switch (world.conduct) {
      case 'settles':
        return charges.has(payment.key)
          ? { kind: 'refused', reason: 'invalid_exact_evm_nonce_already_used' }
          : { kind: 'settled', transaction: charge(payment) };
      case 'refuses':
        return { kind: 'refused', reason: 'invalid_exact_evm_insufficient_balance' };
      case 'unreachable':
        return { kind: 'unclear', reason: 'no_clear_reply' };
      case 'drops its reply':
        charge(payment);
        return { kind: 'unclear', reason: 'no_clear_reply' };
      case 'lies about success':
        return { kind: 'settled', transaction: hex(32) };
      case 'lies about refusal':
        charge(payment);
        return { kind: 'refused', reason: 'invalid_exact_evm_insufficient_balance' };
    }
  };
  const parties: PaymentParties = {
    facilitator: {
      verify: async () => {
        calls.verify += 1;
        if (world.isVerifyDown) throw new Error('connect ECONNREFUSED');
        return world.invalid;
      },
      settle: async (payment) => {
        calls.settle += 1;
        const call = calls.settle;
        await world.beforeSettling?.(call);
        const reply = settleNow(payment);
        await world.beforeReply?.(call);
        return reply;
      },
      feePayer: async () => 'unused',
    },
    chainOf: async () => ({
      look: async ({ key }): Promise<Charge> => {
        calls.look += 1;
        if (world.isChainDown) throw new Error('connect ECONNREFUSED');
        const [transaction] = charges.get(key) ?? [];
        if (transaction !== undefined) return { kind: 'charged', transaction };
        return world.isOver
          ? { kind: 'void', reason: 'The authorization expired unused.' }
          : { kind: 'open' };
      },
    }),
  };
  const reset = () => {
    Object.assign(world, {
      conduct: 'settles',
      invalid: undefined,
      isVerifyDown: false,
      isChainDown: false,
      isOver: false,
      beforeSettling: undefined,
      beforeReply: undefined,
    });
  };
  return { world, parties, charges, calls, reset };
}

/** A payment for the first requirement of a demand, by a payer of its own unless one is given. */
export function paymentFor(
  { accepts, paymentRequired }: PaymentDemand,
  version: 1 | 2 = 2,
  changes: JsonObject = {},
  accepted: JsonObject = {},
): OfferedPayment {
  const [first] = accepts as { network: string; payTo: string; maxAmountRequired: string }[];
  const [firstV2] = paymentRequired['accepts'] as JsonObject[];
  if (first === undefined || firstV2 === undefined) throw new Error('nothing is asked for');
  const seconds = Math.floor(Date.now() / 1000);
  const authorization = {
    from: hex(20),
    to: first.payTo,
    value: first.maxAmountRequired,
    validAfter: String(seconds - 600),
    validBefore: String(seconds + 120),
    nonce: hex(32),
    ...changes,
  };
  const payload = { signature: hex(65), authorization };
  return version === 1
    ? { version, payload: { x402Version: 1, scheme: 'exact', network: first.network, payload, ...accepted } }
    : { version, payload: { x402Version: 2, accepted: { ...firstV2, ...accepted }, payload } };
}
