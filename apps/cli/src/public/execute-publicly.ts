import type { JsonObject } from '@orrery/contracts';
import { createOrrery, OrreryError, type Payer, type PublicAnswer } from '@orrery/sdk';
import { StartupError } from '@orrery/service-kit';
import { adviceOn } from '../server/ask-server.js';
import type { Wallet } from '../wallets/wallet-file.js';
import { howToPay, offersOf } from './offers.js';

export interface PublicRequest {
  /** Address of the server. */
  readonly url: string;
  /** Address of the deployment; the wallet signs it. */
  readonly deployment: string;
  readonly event: string;
  readonly input: JsonObject;
  readonly wallet: Wallet;
  /** Pays the price; without it the price is an error. */
  readonly payer: Payer | undefined;
  /** Tells that the payment is unclear, which may take minutes. */
  readonly onAwaitingPayment: (executionId: string) => void;
}

/** Milliseconds in which a server that is away may come back. */
const PATIENCE_MS = 5000;

/**
 * Signs and sends one public execution (docs/public-execution.md).
 * @throws StartupError with the server's words when it refuses, with what is asked for when that is not paid
 */
export async function executePublicly({ url, wallet, ...execution }: PublicRequest): Promise<PublicAnswer> {
  const by = { publicKey: wallet.address, sign: wallet.sign };
  try {
    return await createOrrery({ url, retryForMs: PATIENCE_MS }).executePublic({ ...execution, by });
  } catch (cause) {
    if (cause instanceof StartupError) throw cause;
    const reason =
      cause instanceof OrreryError
        ? await refusalOf(cause, url)
        : `The payment was not made: ${(cause as Error).message}`;
    throw new StartupError(reason, { cause });
  }
}

async function refusalOf(error: OrreryError, url: string): Promise<string> {
  const { message, status, code, pointers, paymentRequired } = error;
  if (status === 0) return message;
  if (code === 'payment_required' && paymentRequired !== null)
    return `The execution was refused (402). ${howToPay(await offersOf(paymentRequired))}`;
  const places = pointers
    .filter((one) => !message.includes(one.message))
    .map(({ pointer, message: text }) => `\n  ${pointer || 'the body'}: ${text}`);
  const ofInput = code === 'invalid_input' ? ['The input is what --input gives: JSON, or a file.'] : [];
  const advice = [...ofInput, ...adviceOn({ url, key: '' }, error)].map((line) => `\n${line}`);
  return `The execution was refused (${status} ${code}): ${message}${places.join('')}${advice.join('')}`;
}
