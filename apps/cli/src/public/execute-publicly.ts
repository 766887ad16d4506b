import type { JsonObject } from '@orrery/contracts';
import { createOrrery, OrreryError, type Payer, type PublicAnswer } from '@orrery/sdk';
import { StartupError } from '@orrery/service-kit';
import type { Wallet } from '../wallets/wallet-file.js';

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
}

/** Milliseconds in which a server that is away may come back. */
const PATIENCE_MS = 5000;

/**
 * Signs and sends one public execution (docs/public-execution.md).
 * @throws StartupError with the server's words when it refuses, with the payer's when it does not pay
 */
export async function executePublicly({ url, wallet, ...execution }: PublicRequest): Promise<PublicAnswer> {
  const by = { publicKey: wallet.address, sign: wallet.sign };
  try {
    return await createOrrery({ url, retryForMs: PATIENCE_MS }).executePublic({ ...execution, by });
  } catch (cause) {
    throw new StartupError(reasonOf(cause), { cause });
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof OrreryError)) return `The payment was not made: ${(error as Error).message}`;
  const { message, status, paymentRequired } = error;
  if (status === 0) return message;
  const price = paymentRequired === null ? '' : `\n${JSON.stringify(paymentRequired.accepts, null, 2)}`;
  return `The execution was refused (${status}): ${message}${price}`;
}
