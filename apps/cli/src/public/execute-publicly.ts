import {
  createOrrery,
  OrreryError,
  type Payer,
  type PaymentRequired,
  type PublicAnswer,
  type PublicExecution,
} from '@orrery/sdk';
import { StartupError } from '@orrery/service-kit';
import { readGivenFile } from '../documents/read-document.js';
import { adviceOn } from '../server/refusal.js';
import { type EvmKey, readEvmKey, type Wallet } from '../wallets/wallet-file.js';
import { howToPay, offersOf, unaffordable } from './offers.js';

/** Milliseconds in which a server that is away may come back; longer where a payment may have been made. */
const PATIENCE_MS = 5000;
const PAID_PATIENCE_MS = 60_000;

/**
 * Signs and sends one public execution (docs/public-execution.md).
 * @throws StartupError with the server's words when it refuses, with what is asked for when that is not paid
 */
export async function executePublicly(url: string, execution: PublicExecution): Promise<PublicAnswer> {
  try {
    const retryForMs = execution.payer === undefined ? PATIENCE_MS : PAID_PATIENCE_MS;
    return await createOrrery({ url, retryForMs }).executePublic(execution);
  } catch (cause) {
    if (!(cause instanceof OrreryError)) throw cause;
    throw new StartupError(await refusalOf(cause, url, execution), { cause });
  }
}

async function refusalOf(
  error: OrreryError,
  url: string,
  { deployment, payer }: PublicExecution,
): Promise<string> {
  const { message, status, code, pointers, paymentRequired } = error;
  if (error.isUndecided) {
    const what = payer === undefined ? 'executed' : 'executed and paid';
    return `${message} It is not known whether it was ${what}: look for it in ${url}/play/${deployment} before you execute it again.`;
  }
  if (code === 'payment_required' && paymentRequired !== null)
    return `The execution was refused (402). ${howToPay(await offersOf(paymentRequired))}`;
  const problems = pointers
    .filter((one) => !message.includes(one.message))
    .map(({ pointer, message: text }) => `\n  ${pointer || 'the body'}: ${text}`);
  const ofInput = code === 'invalid_input' ? ['The input is what --input gives: JSON, or a file.'] : [];
  const advice = [...ofInput, ...adviceOn({ url, key: '' }, error)].map((line) => `\n${line}`);
  return `The execution was refused (${status} ${code}): ${message}${problems.join('')}${advice.join('')}`;
}

export interface PayerOptions {
  /** File with the private key (0x and 64 hex digits) that pays, on EVM chains; without it the wallet itself pays. */
  readonly evmKey?: string;
  /** Address of a node of Solana; the public one of the network by default. */
  readonly solanaRpc?: string;
  /** The most that one payment may cost, in US dollars. */
  readonly maxUsd: number;
}

/**
 * Pays what a 402 asks for, in the well-known dollar assets alone. What it does not pay is a StartupError that says what
 * would be needed. The x402 packages are loaded here, so that no other command waits for them.
 */
export async function createPayer(wallet: Wallet | undefined, options: PayerOptions): Promise<Payer> {
  const { maxUsd, evmKey } = options;
  const paying = evmKey === undefined ? wallet : await payingKey(evmKey);
  if (paying === undefined)
    throw new StartupError(
      'Without --wallet the payer is the caller: add --evm-key <file with a private key>.',
    );
  const client = await x402ClientOf(paying, options);
  const { family } = paying;
  return {
    createPaymentPayload: async (required: never) => {
      const reason = unaffordable(await offersOf(required as PaymentRequired), { family, maxUsd });
      if (reason !== undefined) throw new StartupError(`The payment was not made. ${reason}`);
      return client.createPaymentPayload(required).catch((cause: Error) => {
        throw new StartupError(`The payment was not made: ${cause.message}`, { cause });
      });
    },
  };
}

async function x402ClientOf(wallet: Wallet, { solanaRpc, maxUsd }: PayerOptions) {
  const { x402Client } = await import('@x402/fetch');
  const client = new x402Client().setSpendControls({ maxAmountPerPayment: `$${maxUsd}` });
  if (wallet.family === 'solana') {
    const { ExactSvmScheme } = await import('@x402/svm/exact/client');
    const { createKeyPairSignerFromBytes } = await import('@solana/kit');
    const signer = await createKeyPairSignerFromBytes(wallet.secretKey);
    client.register('solana:*', new ExactSvmScheme(signer, solanaRpc ? { rpcUrl: solanaRpc } : {}));
  } else {
    const { registerExactEvmScheme } = await import('@x402/evm/exact/client');
    const { privateKeyToAccount } = await import('viem/accounts');
    registerExactEvmScheme(client, { signer: privateKeyToAccount(wallet.key) });
  }
  return client;
}

async function payingKey(path: string): Promise<EvmKey> {
  const key = await readEvmKey(
    await readGivenFile(path, '--evm-key names a file with 0x and 64 hex digits.'),
  );
  if (key !== undefined) return key;
  throw new StartupError(`${path} holds no private key: 0x and 64 hex digits are expected.`);
}
