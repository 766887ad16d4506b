import { type CallContext, type Caller, caller } from '@orrery/contracts';
import { injectTrace } from '@orrery/service-kit';
import { LRUCache } from 'lru-cache';
import type { CallOptions } from '../port.js';
import type { Frame } from '../transport.js';

/** Set in a reply that is an error: its code. */
export const ERROR_HEADER = 'orrery-error';

/**
 * Who calls, which request it belongs to, and how long the caller waits: `<ms since epoch> <ms left>`. The
 * first is for people who watch the wire, the second is what counts.
 */
export function writeCallHeaders(options: CallOptions, remainingMs: number): Frame['headers'] {
  return injectTrace({
    'orrery-caller': JSON.stringify(options.caller),
    'orrery-request': options.requestId,
    'orrery-deadline': `${options.deadline} ${remainingMs}`,
  });
}

export type CallFacts = Omit<CallContext, 'signal'> & { remainingMs: number };

/** @throws Error when the headers were not written by `writeCallHeaders`. */
export type ReadCallHeaders = (headers: Frame['headers'], now: number) => CallFacts;

export function createReadCallHeaders(): ReadCallHeaders {
  const readCaller = createReadCaller();
  return (headers, now) => {
    const remainingMs = readRemaining(headers['orrery-deadline'] ?? '');
    if (!Number.isFinite(remainingMs)) throw new Error('a request without a deadline');
    return {
      caller: readCaller(headers['orrery-caller']),
      requestId: headers['orrery-request'] ?? '',
      deadline: now + remainingMs,
      remainingMs,
    };
  };
}

function readRemaining(deadline: string): number {
  const space = deadline.indexOf(' ');
  return space < 0 ? Number.NaN : Number(deadline.slice(space + 1));
}

/** The same few callers come again and again. */
function createReadCaller() {
  const known = new LRUCache<string, Caller>({ max: 1000 });
  return (text = 'null'): Caller => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const read = Object.freeze(caller.parse(JSON.parse(text)));
    known.set(text, read);
    return read;
  };
}
