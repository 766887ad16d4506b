import { type Context, context, propagation } from '@opentelemetry/api';
import {
  type CallContext,
  type Caller,
  caller,
  ERRORS,
  type ErrorReply,
  type FieldProblem,
  findUnsafeJson,
  JsonText,
  type JsonValue,
  MAX_JSON_DEPTH,
  type Message,
  parseJson,
  ServiceError,
  toErrorReply,
  withSuggestions,
} from '@orrery/contracts';
import { LRUCache } from 'lru-cache';
import type { CallOptions } from '../ports/bus-port.js';
import type { Frame } from '../ports/transport.js';

// What every adapter carries: subjects, headers and bodies.

/**
 * The subject on which one process serves what it shares on `subject`: its name is a token of its own, so that the
 * permissions of NATS can tell RPCs apart.
 */
export const instanceSubject = (subject: string, instance: string): string => `${subject}.${instance}`;

/** The same as the release before calls a process that it names. @throws TypeError for an invalid name */
export function previousInstanceSubject(subject: string, instance: string): string {
  if (!/^[\w-]{1,64}$/.test(instance)) throw new TypeError(`not a name for an instance: ${instance}`);
  return `${subject}@${instance}`;
}

/** Broadcasts have subjects of their own: everything below `orrery.facts` is stored. */
export const broadcastSubject = (message: Message): string =>
  `orrery.broadcasts.${message.service}.${message.name}`;

/** The subject on which callers cancel calls that the service is answering. */
export const cancelSubject = (service: string): string => `orrery.cancel.${service}`;

/** The subject of the heartbeats of a service's processes. */
export const aliveSubject = (service: string): string => `orrery.alive.${service}`;

/** Adds `traceparent` and `tracestate` (W3C Trace Context) of the active span, if there is one. */
export function injectTrace(headers: Record<string, string>): Frame['headers'] {
  propagation.inject(context.active(), headers);
  return headers;
}

/**
 * Runs `work` as a part of the trace that the headers name; without usable headers as a part of the active one. Where
 * nothing is traced no context is entered: the first one makes Node.js watch every promise and tick of the process.
 */
export const withinTrace = <T>(headers: Frame['headers'], work: () => T): T =>
  headers['traceparent'] === undefined ? work() : context.with(extractTrace(headers), work);

const extractTrace = (headers: Frame['headers']): Context => propagation.extract(context.active(), headers);

/** Set in a reply that is an error: its code. */
export const ERROR_HEADER = 'orrery-error';

const callerTexts = new WeakMap<Caller, string>();

/** Nobody changes a caller, and the calls of one key share theirs. */
function textOfCaller(who: Caller): string {
  const known = callerTexts.get(who);
  if (known !== undefined) return known;
  const text = JSON.stringify(who);
  callerTexts.set(who, text);
  return text;
}

/**
 * The caller, the request that the call belongs to, and how long the caller waits: `<ms since epoch> <ms left>`. The
 * first number is for people who watch the wire. Only the second one counts, because clocks may differ.
 */
export function writeCallHeaders(options: CallOptions, remainingMs: number): Frame['headers'] {
  const headers: Record<string, string> = {
    'orrery-caller': textOfCaller(options.caller),
    'orrery-request': options.requestId,
    'orrery-deadline': `${options.deadline} ${remainingMs}`,
  };
  if (options.callId !== undefined) headers['orrery-call'] = options.callId;
  if (options.leavesRun === true) headers['orrery-run'] = 'left';
  if (options.home !== undefined) headers['orrery-home'] = options.home;
  return injectTrace(headers);
}

/** @throws Error when the headers were not written by `writeCallHeaders`. */
export function readCallHeaders(headers: Frame['headers'], now: number): Omit<CallContext, 'signal'> {
  const remainingMs = readRemaining(headers['orrery-deadline'] ?? '');
  if (!Number.isFinite(remainingMs)) throw new Error('a request without a deadline');
  return {
    caller: readCaller(headers['orrery-caller']),
    requestId: headers['orrery-request'] ?? '',
    callId: headers['orrery-call'],
    leavesRun: headers['orrery-run'] === 'left',
    home: headers['orrery-home'],
    deadline: now + remainingMs,
  };
}

function readRemaining(deadline: string): number {
  const space = deadline.indexOf(' ');
  return space < 0 ? Number.NaN : Number(deadline.slice(space + 1));
}

/** The same few callers come again and again. */
const knownCallers = new LRUCache<string, Caller>({ max: 1000 });

function readCaller(text = 'null'): Caller {
  const before = knownCallers.get(text);
  if (before !== undefined) return before;
  const read = Object.freeze(caller.parse(JSON.parse(text)));
  knownCallers.set(text, read);
  return read;
}

/** Largest request or reply, in bytes of JSON. */
export const MAX_CALL_BYTES = 32 * 1024 * 1024;
/**
 * Largest published or broadcast message, in bytes of JSON: the default limit of NATS, less room for headers. The
 * largest legal journal entry must fit. Its message holds the changes twice, and a binding's filter beside them.
 */
export const MAX_FACT_BYTES = 960 * 1024;
/** A request wraps the JSON that the gateway has checked in a few levels of its own. */
const WRAPPING_LEVELS = 8;

/** @throws ServiceError `body_too_large` above `maxBytes`. */
export function encodeBody(value: unknown, maxBytes: number): string {
  const body = value instanceof JsonText ? value.text : (JSON.stringify(value) ?? 'null');
  if (exceeds(body, maxBytes))
    throw new ServiceError('body_too_large', `The bus carries at most ${maxBytes} bytes at once.`, {
      facts: { maxBytes },
    });
  return body;
}

/** UTF-8 takes at most three bytes per UTF-16 unit, so short texts need no counting. */
const exceeds = (body: string, maxBytes: number): boolean =>
  body.length * 3 > maxBytes && Buffer.byteLength(body) > maxBytes;

export const decodeBody = (body: string): JsonValue => parseJson(body);

/** The first problem of a decoded body that no service accepts. */
export const unsafeJsonIn = (value: JsonValue): FieldProblem | undefined =>
  findUnsafeJson(value, MAX_JSON_DEPTH + WRAPPING_LEVELS);

/** @throws ServiceError `validation_failed` for JSON that no service accepts. */
export function decodeUntrusted(body: string): JsonValue {
  const value = decodeBody(body);
  const problem = unsafeJsonIn(value);
  if (problem !== undefined)
    throw new ServiceError('validation_failed', problem.message, { errors: withSuggestions([problem]) });
  return value;
}

/** The reply that says why there is no answer. */
export const errorFrame = (error: ServiceError): Frame => ({
  headers: { [ERROR_HEADER]: error.code },
  body: JSON.stringify({ ...withoutReached(toErrorReply(error)), status: ERRORS[error.code].status }),
});

/**
 * Removes `reached` from an error that was answered. The error may come from a further call of the serving end that had no
 * responders; only the caller's own transport knows whether this call reached a process.
 */
export function withoutReached({ facts: { reached: _, ...facts }, ...error }: ErrorReply): ErrorReply {
  return { ...error, facts };
}
