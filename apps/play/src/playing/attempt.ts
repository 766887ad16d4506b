import { OrreryError, type Payer, type PublicAnswer, type PublicExecution } from '@orrery/sdk';
import type { PlayerWallet } from '../wallets/wallets.js';
import { orrery } from '../world/read-world.js';

interface AttemptFacts {
  readonly deployment: string;
  readonly event: string;
  readonly input: Record<string, unknown>;
  /** Who signs; undefined: the payer is the caller, where the event allows that. */
  readonly wallet: PlayerWallet | undefined;
  readonly payer: Payer | undefined;
  readonly onAwaitingPayment: () => void;
}

/** One play of an event. It may be sent again while its outcome is unknown: it takes effect once, and is paid once. */
export interface Attempt {
  readonly send: () => Promise<PublicAnswer>;
}

export function createAttempt(facts: AttemptFacts): Attempt {
  const { wallet, payer, deployment, event, input, onAwaitingPayment } = facts;
  let signed: ReturnType<typeof orrery.signMessage> | undefined;
  let payment: Promise<object> | undefined;
  const once: Payer | undefined = payer && {
    createPaymentPayload: (required) => {
      payment ??= payer.createPaymentPayload(required);
      return payment;
    },
  };
  return {
    send: async () => {
      if (wallet !== undefined) signed ??= orrery.signMessage({ deployment, event }, wallet.by);
      const by = await signed;
      return orrery.executePublic({
        deployment,
        event,
        input: input as PublicExecution['input'],
        by,
        payer: once,
        onAwaitingPayment,
      });
    },
  };
}

/** Nobody knows whether it took effect: no answer came, or one that does not say. */
export const isUnknown = (error: unknown): boolean =>
  error instanceof OrreryError && (error.isUndecided || error.status >= 500);
