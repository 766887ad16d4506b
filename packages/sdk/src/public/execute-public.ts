import type { ExecutionAnswer, JsonObject } from '../deployments/executions.js';
import { OrreryError } from '../errors/orrery-error.js';
import type { components } from '../generated/api.js';
import type { Requests } from '../requests/requests.js';
import { base58 } from './base58.js';
import { decodeHeader, encodeHeader, type Payer, type Settlement } from './payments.js';

/** An ed25519 wallet: its public key, 32 bytes or their base58, and how it signs bytes as they are (64 bytes). */
export interface SigningWallet {
  readonly publicKey: string | Uint8Array;
  sign(message: Uint8Array): Uint8Array | Promise<Uint8Array>;
}

/** The signed members of a public execution. */
export type SignedMessage = Pick<
  components['schemas']['PublicExecuteRequest'],
  'wallet' | 'message' | 'signature'
>;

/** What is executed: the deployment by its address, the event by its name. */
export interface PublicTarget {
  readonly deployment: string;
  readonly event: string;
}

export interface PublicExecution extends PublicTarget {
  readonly input?: JsonObject | undefined;
  /** Signs the message; or one that is signed already (`signMessage`), to repeat a call: it takes effect once. */
  readonly by: SigningWallet | SignedMessage;
  /** Pays where the event has a price; without it the price is the error `payment_required`. */
  readonly payer?: Payer | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface PublicAnswer extends ExecutionAnswer {
  /** Null where nothing was paid. */
  readonly settlement: Settlement | null;
}

export interface PublicExecutions {
  /** Signs the text of one execution, now (docs/public-execution.md, "The message"). */
  signMessage(target: PublicTarget, wallet: SigningWallet): Promise<SignedMessage>;
  /** Executes a public event of a published deployment. A payment is made once and sent again with each attempt. */
  executePublic(execution: PublicExecution): Promise<PublicAnswer>;
}

const EXECUTE = '/app/deployments/{address}/execute';

export function createPublicExecutions({ answer }: Requests): PublicExecutions {
  let lastTime = 0;
  const signMessage: PublicExecutions['signMessage'] = (target, wallet) => {
    // Two messages of one wallet need two times.
    lastTime = Math.max(Date.now(), lastTime + 1);
    return signAt(lastTime, target, wallet);
  };
  const send = async (
    { deployment, event, input, signal }: PublicExecution,
    signed: SignedMessage,
    paid = {},
  ) => {
    const { body, headers } = await answer('post', EXECUTE, {
      path: { address: deployment },
      body: { event, ...signed, ...(input && { input }) },
      headers: paid,
      signal,
    });
    return { ...body.data, settlement: decodeHeader<Settlement>(headers.get('payment-response')) };
  };
  return {
    signMessage,
    executePublic: async (execution) => {
      const { by, payer } = execution;
      const signed = 'sign' in by ? await signMessage(execution, by) : by;
      try {
        return await send(execution, signed);
      } catch (error) {
        const isUnpaid = error instanceof OrreryError && error.code === 'payment_required';
        if (payer === undefined || !isUnpaid || error.paymentRequired === null) throw error;
        const payment = await payer.createPaymentPayload(error.paymentRequired as never);
        return send(execution, signed, { 'payment-signature': encodeHeader(payment) });
      }
    },
  };
}

async function signAt(
  time: number,
  { deployment, event }: PublicTarget,
  wallet: SigningWallet,
): Promise<SignedMessage> {
  const message = `orrery:${deployment.toLowerCase()}:${event}:${time}`;
  const signature = await wallet.sign(new TextEncoder().encode(message));
  const { publicKey } = wallet;
  return {
    wallet: typeof publicKey === 'string' ? publicKey : base58(publicKey),
    message,
    signature: base58(signature),
  };
}
