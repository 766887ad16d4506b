import { randomBytes } from 'node:crypto';
import type { JsonObject, OfferedPayment, PaymentDemand } from '@orrery/contracts';
import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { x402Client } from '@x402/fetch';
import type { PrivateKeyAccount } from 'viem';
import type { Charge, Payment, SettlementReply } from '../src/core/payments/payment.js';
import type { PaymentParties } from '../src/runs/payments/payments.js';

export const RECEIVER = '0x1111111111111111111111111111111111111111';

/** What the facilitator does with a settlement. */
export type Conduct =
  | 'settles'
  | 'refuses'
  | 'unreachable'
  | 'answers 500'
  | 'drops its reply'
  | 'charges and answers 500'
  | 'refuses with a hash that failed'
  | 'refuses with a hash that charges'
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
    /** The operator has configured no node of the chain. */
    isWithoutNode: false,
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
  const failed = new Set<string>();
  const failNow = (): string => {
    const transaction = hex(32);
    failed.add(transaction);
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
        return { kind: 'silent', reason: 'no_reply' };
      case 'answers 500':
        return { kind: 'unclear', reason: 'no_clear_reply' };
      case 'drops its reply':
        charge(payment);
        return { kind: 'silent', reason: 'no_reply' };
      case 'charges and answers 500':
        charge(payment);
        return { kind: 'unclear', reason: 'no_clear_reply' };
      case 'refuses with a hash that failed':
        return { kind: 'unclear', reason: 'transaction_failed', transaction: failNow() };
      case 'refuses with a hash that charges':
        return { kind: 'unclear', reason: 'settlement_pending', transaction: charge(payment) };
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
      look: async ({ key }, { named }): Promise<Charge> => {
        calls.look += 1;
        if (world.isWithoutNode) return { kind: 'unseen' };
        if (world.isChainDown) throw new Error('connect ECONNREFUSED');
        const [transaction] = charges.get(key) ?? [];
        if (transaction !== undefined) return { kind: 'charged', transaction, at: Date.now() };
        return world.isOver
          ? { kind: 'void', reason: 'authorization_expired' }
          : { kind: 'open', failed: named.filter((one) => failed.has(one)) };
      },
    }),
  };
  const reset = () => {
    Object.assign(world, {
      conduct: 'settles',
      invalid: undefined,
      isVerifyDown: false,
      isChainDown: false,
      isWithoutNode: false,
      isOver: false,
      beforeSettling: undefined,
      beforeReply: undefined,
    });
  };
  return { world, parties, charges, calls, reset };
}

/** A payment that a key has signed, as a client of x402 makes it. */
export async function paymentBy(account: PrivateKeyAccount, demand: PaymentDemand): Promise<OfferedPayment> {
  const client = registerExactEvmScheme(new x402Client(), { signer: account });
  const payload = await client.createPaymentPayload(demand.paymentRequired as never);
  return { version: 2, payload: payload as unknown as JsonObject };
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
