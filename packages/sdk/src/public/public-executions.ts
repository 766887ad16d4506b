import type { ExecutionAnswer, JsonObject } from '../deployments/executions.js';
import { OrreryError } from '../errors/orrery-error.js';
import { decodeHeader, encodeHeader, type Payer, type Settlement } from '../errors/payments.js';
import type { components } from '../generated/api.js';
import { toHex } from '../json/hex.js';
import { pause, type Requests } from '../requests/requests.js';

/** An ed25519 wallet: its public key, 32 bytes or their base58, and how it signs bytes as they are (64 bytes). */
export interface SigningWallet {
  readonly publicKey: string | Uint8Array;
  sign(message: Uint8Array): Uint8Array | Promise<Uint8Array>;
}

/**
 * An account on EVM chains: its address, and how it signs a text by EIP-191. viem's accounts fit as they are. A contract account
 * is named with its chain: `eip155:<chain id>:0x…`.
 */
export interface EvmWallet {
  readonly address: string;
  signMessage(text: { readonly message: string }): Promise<string>;
}

/** The signed members of a public execution. */
export type SignedMessage = Required<
  Pick<components['schemas']['PublicExecuteRequest'], 'wallet' | 'message' | 'signature'>
>;

/** What is executed: the deployment by its address, the event by its name. */
export interface PublicTarget {
  readonly deployment: string;
  readonly event: string;
}

export interface PublicExecution extends PublicTarget {
  readonly input?: JsonObject | undefined;
  /**
   * Signs the message; or one that is signed already (`signMessage`), to repeat a call: it takes effect once. Without it the
   * payer is the caller, where the event allows that (`payerMayCall`).
   */
  readonly by?: SigningWallet | EvmWallet | SignedMessage | undefined;
  /** Pays where the event has a price; without it the price is the error `payment_required`. */
  readonly payer?: Payer | undefined;
  /** Called when it is not known yet whether the payment was charged; the answer comes once it is, within minutes. */
  readonly onAwaitingPayment?: ((executionId: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface PublicAnswer extends ExecutionAnswer {
  /** Null where nothing was paid, and where what the answer says of it cannot be read. */
  readonly settlement: Settlement | null;
}

export interface PublicExecutions {
  /** Signs the text of one execution, now (docs/public-execution.md, "The message"). */
  signMessage(target: PublicTarget, wallet: SigningWallet | EvmWallet): Promise<SignedMessage>;
  /**
   * Executes a public event of a published deployment. A payment is made once and sent again with each try. While it is
   * not known whether it was charged, this waits.
   */
  executePublic(execution: PublicExecution): Promise<PublicAnswer>;
}

const EXECUTE = '/app/deployments/{address}/events/{event}/execute';
const EXECUTION = '/app/deployments/{address}/executions/{executionId}';
const FIRST_POLL_MS = 500;
const SLOWEST_POLL_MS = 5000;

type Awaited = components['schemas']['AcceptedExecution'];

export function createPublicExecutions({ answer }: Requests): PublicExecutions {
  let lastTime = 0;
  const signMessage: PublicExecutions['signMessage'] = (target, wallet) => {
    // Two messages of one wallet need two times.
    lastTime = Math.max(Date.now(), lastTime + 1);
    return signAt(lastTime, target, wallet);
  };
  const send = async (
    execution: PublicExecution,
    signed: SignedMessage | undefined,
    paid = {},
  ): Promise<PublicAnswer> => {
    const { deployment, event, input, signal } = execution;
    const { body, headers } = await onceEnded(signal, () =>
      answer('post', EXECUTE, {
        path: { address: deployment, event },
        body: { ...signed, ...(input && { input }) },
        headers: paid,
        signal,
      }),
    );
    if (!isAwaited(body.data))
      return { ...body.data, settlement: decodeHeader<Settlement>(headers.get('payment-response')) };
    await paymentKnown(execution, body.data.executionId);
    // A repetition gets the outcome, and how the payment was settled.
    return send(execution, signed, paid);
  };
  const paymentKnown = async (
    { deployment: address, signal, onAwaitingPayment }: PublicExecution,
    executionId: string,
  ) => {
    onAwaitingPayment?.(executionId);
    for await (const _ of polls(signal)) {
      const { body } = await answer('get', EXECUTION, { path: { address, executionId }, signal });
      if (body.data.state === 'succeeded' || body.data.state === 'failed') return;
    }
  };
  return {
    signMessage,
    executePublic: async (execution) => {
      const { by, payer } = execution;
      const signed = by === undefined || 'signature' in by ? by : await signMessage(execution, by);
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

/** An execution that an earlier request has begun, whose answer did not arrive: its outcome is the answer. */
async function onceEnded<T>(signal: AbortSignal | undefined, send: () => Promise<T>): Promise<T> {
  const polling = polls(signal);
  for (;;) {
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof OrreryError) || error.code !== 'request_in_flight') throw error;
      await polling.next();
    }
  }
}

/** Without end, each a pause after the one before. */
async function* polls(signal: AbortSignal | undefined) {
  for (let delay = FIRST_POLL_MS; ; delay = Math.min(delay * 1.5, SLOWEST_POLL_MS)) {
    await pause(delay, signal);
    yield;
  }
}

const isAwaited = (data: ExecutionAnswer | Awaited): data is Awaited => 'executionId' in data;

async function signAt(
  time: number,
  { deployment, event }: PublicTarget,
  wallet: SigningWallet | EvmWallet,
): Promise<SignedMessage> {
  const message = `orrery:${deployment.toLowerCase()}:${event}:${time}`;
  if ('signMessage' in wallet)
    return { wallet: wallet.address, message, signature: await wallet.signMessage({ message }) };
  const signature = await wallet.sign(new TextEncoder().encode(message));
  const { publicKey } = wallet;
  return {
    wallet: typeof publicKey === 'string' ? publicKey : base58(publicKey),
    message,
    signature: base58(signature),
  };
}

/** What browsers have as `window.ethereum` (EIP-1193). */
export interface EthereumProvider {
  request(call: { method: string; params?: unknown }): Promise<unknown>;
}

/** The account that an injected wallet shows first, once its owner allows it. @throws the wallet's error */
export async function injectedWallet(ethereum: EthereumProvider): Promise<EvmWallet> {
  const [address] = (await ethereum.request({ method: 'eth_requestAccounts' })) as string[];
  if (address === undefined) throw new Error('The wallet shows no account: unlock it, and choose one there.');
  return {
    address,
    signMessage: async ({ message }) => {
      const bytes = new TextEncoder().encode(message);
      const text = `0x${toHex(bytes)}`;
      return String(await ethereum.request({ method: 'personal_sign', params: [text, address] }));
    },
  };
}

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** Base58 as Bitcoin and Solana write it: each zero byte at the start is a `1`. For keys and signatures: it is quadratic. */
export function base58(bytes: Uint8Array): string {
  let number = bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  let text = '';
  for (; number > 0n; number /= 58n) text = ALPHABET.charAt(Number(number % 58n)) + text;
  const firstOther = bytes.findIndex((byte) => byte !== 0);
  return '1'.repeat(firstOther < 0 ? bytes.length : firstOther) + text;
}
