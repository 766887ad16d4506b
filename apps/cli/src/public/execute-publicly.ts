import type { ExecutionAnswer, JsonObject } from '@orrery/contracts';
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
}

export interface PublicAnswer {
  readonly data: ExecutionAnswer;
  /** How the payment was settled; undefined where nothing was paid. */
  readonly payment: JsonObject | undefined;
}

const SETTLEMENT_HEADERS = ['payment-response', 'x-payment-response'] as const;

/**
 * Signs and sends one public execution (docs/public-execution.md). `send` pays where the answer is 402, if it can.
 * @throws StartupError with the server's words when it refuses
 */
export async function executePublicly(
  { url, deployment, event, input, wallet }: PublicRequest,
  send: typeof fetch,
): Promise<PublicAnswer> {
  const message = `orrery:${deployment}:${event}:${Date.now()}`;
  const signed = { event, input, wallet: wallet.address, message, signature: wallet.sign(message) };
  const answer = await send(`${url}/app/deployments/${encodeURIComponent(deployment)}/execute`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(signed),
  }).catch((cause: Error) => {
    throw new StartupError(`The request could not be sent to ${url}: ${cause.message}`, { cause });
  });
  const body = (await answer.json()) as { data: ExecutionAnswer; error: string; accepts?: unknown };
  if (answer.ok) return { data: body.data, payment: settlementIn(answer.headers) };
  const price = body.accepts === undefined ? '' : `\n${JSON.stringify(body.accepts, null, 2)}`;
  throw new StartupError(`The execution was refused (${answer.status}): ${body.error}${price}`);
}

function settlementIn(headers: Headers): JsonObject | undefined {
  const [encoded] = SETTLEMENT_HEADERS.flatMap((name) => headers.get(name) ?? []);
  return encoded === undefined ? undefined : JSON.parse(Buffer.from(encoded, 'base64').toString('utf8'));
}
