import {
  type FieldProblem,
  findUnsafeJson,
  JsonText,
  type JsonValue,
  MAX_JSON_DEPTH,
  ServiceError,
} from '@orrery/contracts';

/** Largest request or reply, in bytes of JSON (decisions §8). */
export const MAX_CALL_BYTES = 32 * 1024 * 1024;
/**
 * Largest published or broadcast message, in bytes of JSON: what NATS carries by default, less room for headers. The
 * largest legal journal entry must pass, which its fact tells twice, with a binding's filter beside it.
 */
export const MAX_FACT_BYTES = 960 * 1024;
/** A request wraps what the entrance has checked in a few levels of its own. */
const WRAPPING_LEVELS = 8;

/** @throws ServiceError `body_too_large` above `maxBytes`. */
export function encodeBody(value: unknown, maxBytes: number): string {
  const body = value instanceof JsonText ? value.text : (JSON.stringify(value) ?? 'null');
  if (exceeds(body, maxBytes))
    throw new ServiceError('body_too_large', `The bus carries at most ${maxBytes} bytes at once`, {
      facts: { maxBytes },
    });
  return body;
}

/** UTF-8 takes at most three bytes per UTF-16 unit, so short texts need no counting. */
const exceeds = (body: string, maxBytes: number): boolean =>
  body.length * 3 > maxBytes && Buffer.byteLength(body) > maxBytes;

export const decodeBody = (body: string): JsonValue => JSON.parse(body) as JsonValue;

/** The first thing in a decoded body that no service accepts. */
export const unsafePlace = (value: JsonValue): FieldProblem | undefined =>
  findUnsafeJson(value, MAX_JSON_DEPTH + WRAPPING_LEVELS);

/** @throws ServiceError `validation_failed` for what no service accepts. */
export function decodeUntrusted(body: string): JsonValue {
  const value = decodeBody(body);
  const problem = unsafePlace(value);
  if (problem !== undefined)
    throw new ServiceError('validation_failed', problem.message, { errors: [problem] });
  return value;
}
