import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** What a caller may name a request: printable, without anything that could break a log line or a header. */
const ACCEPTED = /^[A-Za-z0-9._~:/+=@-]{1,128}$/;

/** The caller's `X-Request-Id` where it is acceptable, else a new one. */
export function requestIdOf(request: Pick<IncomingMessage, 'headers'>): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && ACCEPTED.test(given) ? given : randomUUID();
}
