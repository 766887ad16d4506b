import { type JsonObject, OrreryError, type Payer, type PublicAnswer } from '@orrery/sdk';
import { CannotPay, type PlayerWallet, wordsOf } from '../wallets/wallets.js';
import { orrery } from '../world/read-world.js';

interface AttemptFacts {
  readonly deployment: string;
  readonly event: string;
  readonly input: JsonObject;
  readonly wallet: PlayerWallet;
  readonly payer: Payer | undefined;
  /** Pays from the player's own account, which says who plays: where it can pay, nothing is signed beside the payment. */
  readonly caller: Payer | undefined;
  readonly onAwaitingPayment: () => void;
}

type Client = Pick<typeof orrery, 'signMessage' | 'executePublic'>;

/** One play of an event. It may be sent again while its outcome is unknown: it takes effect once, and is paid once. */
export interface Attempt {
  readonly input: JsonObject;
  readonly send: () => Promise<PublicAnswer>;
  /** Whether nobody knows, after an error of `send`, whether it took effect; `wasUnknown`: nobody knew before. */
  readonly isUnknownAfter: (error: unknown, wasUnknown: boolean) => boolean;
}

export function createAttempt(facts: AttemptFacts, client: Client = orrery): Attempt {
  const { wallet, deployment, event, input, onAwaitingPayment } = facts;
  const [payer, caller] = [facts.payer && once(facts.payer), facts.caller && once(facts.caller)];
  const execution = { deployment, event, input, onAwaitingPayment };
  let signed: ReturnType<Client['signMessage']> | undefined;
  let isCalled = caller !== undefined;
  const sendSigned = async () => {
    signed ??= client.signMessage({ deployment, event }, wallet.by);
    return client.executePublic({ ...execution, by: await signed, payer });
  };
  return {
    input,
    send: async () => {
      if (!isCalled) return sendSigned();
      try {
        return await client.executePublic({ ...execution, payer: caller });
      } catch (error) {
        if (!(error instanceof CannotPay)) throw error;
        isCalled = false;
        return sendSigned();
      }
    },
    isUnknownAfter: (error, wasUnknown) => isUnknown(error, { wasUnknown, isCalled }),
  };
}

/** The same payment each time. What fails before there is one has sent nothing: its error says nothing of the play. */
function once(payer: Payer): Payer {
  let payment: Promise<object> | undefined;
  return {
    createPaymentPayload: async (required) => {
      payment ??= payer.createPaymentPayload(required);
      try {
        return await payment;
      } catch (error) {
        payment = undefined;
        throw error instanceof OrreryError ? new Error(wordsOf(error), { cause: error }) : error;
      }
    },
  };
}

interface Before {
  readonly wasUnknown: boolean;
  /** The payment is the call: the service looks for an earlier one after everything else. */
  readonly isCalled: boolean;
}

/**
 * Nobody knows whether it took effect: no answer came, or one that does not say. An execution that has failed names its entry.
 * What was unknown stays so when an answer was given before the service has looked whether it knows the play.
 */
export function isUnknown(error: unknown, { wasUnknown, isCalled }: Before): boolean {
  if (!(error instanceof OrreryError)) return false;
  if (error.isUndecided) return true;
  if (error.facts['historyId'] !== undefined) return false;
  return error.status >= 500 || (wasUnknown && !isOfPlay(error, isCalled));
}

function isOfPlay({ code, retryable }: OrreryError, isCalled: boolean): boolean {
  if (isCalled) return code.startsWith('payment_');
  return !retryable && code !== 'http_error' && code !== 'deployment_not_found';
}
