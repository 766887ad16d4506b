import type { IncomingMessage } from 'node:http';
import { ServiceError } from '@orrery/contracts';

const AUTHORIZATION = 'authorization';
const BEARER = /^Bearer +(\S{1,256})$/i;

/**
 * The token of `Authorization: Bearer …` (RFC 6750 §2.1).
 *
 * @throws ServiceError `unauthorized` when there is none, or two that a proxy and we might read differently.
 */
export function bearerToken({
  headers,
  rawHeaders,
}: Pick<IncomingMessage, 'headers' | 'rawHeaders'>): string {
  const token = BEARER.exec(headers.authorization ?? '')?.[1];
  if (token === undefined) throw new ServiceError('unauthorized', 'Send Authorization: Bearer <API key>');
  if (countOf(AUTHORIZATION, rawHeaders) > 1)
    throw new ServiceError('unauthorized', 'Send one Authorization header');
  return token;
}

/** How often a header was sent; the names are at the even places. */
function countOf(name: string, rawHeaders: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const given = rawHeaders[at];
    if (given?.length === name.length && given.toLowerCase() === name) count += 1;
  }
  return count;
}
