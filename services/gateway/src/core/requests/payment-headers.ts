import type { IncomingMessage } from 'node:http';
import {
  findUnsafeJson,
  type JsonObject,
  type JsonValue,
  type OfferedPayment,
  parseJson,
  ServiceError,
  type SettlementResponse,
} from '@orrery/contracts';

/** The header of a payment, by the version of x402 that it is for (docs/public-execution.md). */
const OFFERS = { 'x-payment': 1, 'payment-signature': 2 } as const;
const SETTLEMENTS = { 1: 'x-payment-response', 2: 'payment-response' } as const;
/** Of a payment header. A payment has some 700 bytes. */
const MAX_LENGTH = 8 * 1024;

/**
 * The payment that a request carries, decoded and unverified; null without one.
 *
 * @throws `invalid_payment` for what is not one header with base64 of a JSON object of its version
 */
export function readPayment({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): OfferedPayment | null {
  const sent: [name: keyof typeof OFFERS, text: string][] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase() ?? '';
    if (Object.hasOwn(OFFERS, name)) sent.push([name as keyof typeof OFFERS, rawHeaders[at + 1] ?? '']);
  }
  const [first, second] = sent;
  if (first === undefined) return null;
  if (second !== undefined)
    throw new ServiceError('invalid_payment', 'Send one payment, in X-PAYMENT or in PAYMENT-SIGNATURE.');
  const [name, text] = first;
  return { version: OFFERS[name], payload: payloadOf(name, text) };
}

/**
 * The payment in a message of the Model Context Protocol: the object (x402 version 2, MCP transport) or, as some clients
 * send it, the text that a header has.
 *
 * @throws `invalid_payment`
 */
export function readPaymentMember(member: string, given: unknown): OfferedPayment | null {
  if (given === undefined) return null;
  const payload = decodeJson(typeof given === 'string' ? given : encodeJson((given ?? null) as JsonValue));
  if (payload?.['x402Version'] === 2) return { version: 2, payload };
  throw new ServiceError(
    'invalid_payment',
    `${member} takes a payment of x402 version 2, which has at most ${MAX_LENGTH} characters as base64.`,
  );
}

function payloadOf(name: keyof typeof OFFERS, text: string): JsonObject {
  const header = name.toUpperCase();
  const payload = decodeJson(text);
  if (payload === undefined)
    throw new ServiceError(
      'invalid_payment',
      `${header} holds the base64 text of a JSON object, of at most ${MAX_LENGTH} characters.`,
    );
  const version = OFFERS[name];
  if (payload['x402Version'] !== version)
    throw new ServiceError('invalid_payment', `${header} takes a payment whose x402Version is ${version}.`);
  return payload;
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

function decodeJson(text: string): JsonObject | undefined {
  if (text.length > MAX_LENGTH || !BASE64.test(text)) return undefined;
  try {
    const decoded = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(text, 'base64'));
    const value = parseJson(decoded);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject && findUnsafeJson(value) === undefined ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Headers of an answer whose execution was paid. */
export const paymentHeaders = ({ version, response }: SettlementResponse): Record<string, string> => ({
  [SETTLEMENTS[version]]: encodeJson(response),
});

export const encodeJson = (value: JsonValue): string => Buffer.from(JSON.stringify(value)).toString('base64');
