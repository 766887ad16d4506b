import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { Agent, request } from 'node:https';
import type { Duplex } from 'node:stream';
import type { WebhookProblem } from '@orrery/contracts';
import { orAborted } from '@orrery/service-kit';
import type { AllowsAddress } from '../core/webhooks/address-rules.js';
import type { Attempt } from '../core/webhooks/after-attempt.js';
import { AddressRefused, checkLiteral, lookupWith, NameNotFound, type Resolve } from './connect-to.js';

export interface SenderOptions {
  readonly allows: AllowsAddress;
  readonly resolve: Resolve;
  /** Milliseconds of one attempt, from the name to the head of the answer. */
  readonly attemptMs: number;
}

/** Sends one body, once. Never rejects: what went wrong is in the attempt. */
export type Send = (
  url: string,
  headers: OutgoingHttpHeaders,
  body: string,
  signal: AbortSignal,
) => Promise<Attempt>;

/** Connections that wait for their next delivery, in all, and for how many milliseconds. */
const IDLE = { sockets: 128, ms: 5000 };
/** Of the body of an answer so much is read, so that the connection can serve again; it is not kept. */
const ANSWER = { bytes: 16 * 1024, ms: 1000 };
const HEADER_BYTES = 16 * 1024;

/** Connections to receivers. A name is resolved and checked for each new connection, and for no other purpose. */
class CheckedAgent extends Agent {
  constructor() {
    super({ keepAlive: true, timeout: IDLE.ms, scheduling: 'lifo' });
  }

  /** Whether a socket is kept; the types of Node.js do not say that it answers. */
  override keepSocketAlive(socket: Duplex): boolean {
    const idle = Object.values(this.freeSockets).reduce((sum, sockets) => sum + (sockets?.length ?? 0), 0);
    const isKept: unknown = super.keepSocketAlive(socket);
    return isKept === true && idle < IDLE.sockets;
  }
}

/** Redirects are not followed, proxies are not used. `close` ends the connections that wait. */
export function createSender({ allows, resolve, attemptMs }: SenderOptions): { send: Send; close(): void } {
  const agent = new CheckedAgent();
  const once = async (
    url: URL,
    headers: OutgoingHttpHeaders,
    body: string,
    signal: AbortSignal,
    mayReuse: boolean,
  ): Promise<IncomingMessage> => {
    checkLiteral(url.hostname, allows);
    const { promise, resolve: answered, reject } = Promise.withResolvers<IncomingMessage>();
    const sent: ClientRequest = request(url, {
      method: 'POST',
      agent: mayReuse ? agent : false,
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      lookup: lookupWith(resolve, allows, signal),
      maxHeaderSize: HEADER_BYTES,
      signal,
    });
    // An answer that asks for another protocol closes the connection, and is neither a response nor an error.
    sent
      .on('response', answered)
      .on('error', reject)
      .on('close', () => reject(new Error('closed')));
    sent.end(body);
    return orAborted(promise, signal).catch((error: unknown) => {
      // The receiver has closed a connection that had waited: that says nothing about the delivery.
      if (mayReuse && sent.reusedSocket && !signal.aborted) return once(url, headers, body, signal, false);
      throw error;
    });
  };
  return {
    close: () => agent.destroy(),
    send: async (url, headers, body, signal) => {
      const began = performance.now();
      const late = AbortSignal.timeout(attemptMs);
      const tookMs = () => performance.now() - began;
      try {
        const response = await once(new URL(url), headers, body, AbortSignal.any([signal, late]), true);
        const { statusCode: status, headers: answer } = response;
        const attempt = { status, retryAfterMs: retryAfter(answer['retry-after']), durationMs: tookMs() };
        await readAway(response);
        return attempt;
      } catch (error) {
        return { problem: problemOf(error, late.aborted, attemptMs), durationMs: tookMs() };
      }
    },
  };
}

/** Reads the rest of an answer within bounds; beyond them the connection is closed. */
function readAway(response: IncomingMessage): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let bytes = 0;
  const cut = () => {
    response.destroy();
    resolve();
  };
  const timer = setTimeout(cut, ANSWER.ms);
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > ANSWER.bytes) cut();
  });
  response.on('error', () => undefined);
  response.on('close', () => {
    clearTimeout(timer);
    resolve();
  });
  return promise;
}

/** Milliseconds that `Retry-After` asks for (RFC 9110 §10.2.3). */
function retryAfter(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}

/** For the webhook's owner, so without addresses and other texts of the system. */
function problemOf(error: unknown, isLate: boolean, attemptMs: number): WebhookProblem {
  const code = String((error as NodeJS.ErrnoException).code ?? '');
  if (isLate) return { code: 'timeout', detail: `No answer came within ${attemptMs / 1000} s.` };
  if (error instanceof AddressRefused)
    return {
      code: 'address_refused',
      detail: 'The address is not public, and the operator allows no others.',
    };
  if (error instanceof NameNotFound) return { code: 'name_not_found', detail: 'The name has no address.' };
  if (code.startsWith('HPE_'))
    return { code: 'invalid_answer', detail: `The answer is not valid HTTP (${code}).` };
  if (/CERT|SSL|TLS|SIGNATURE|HOSTNAME_MISMATCH|EPROTO|ISSUER/.test(code))
    return { code: 'tls_failed', detail: `No secure connection was made (${code}).` };
  return { code: 'connection_failed', detail: `The connection failed${code && ` (${code})`}.` };
}
