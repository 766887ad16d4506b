import type { IncomingMessage } from 'node:http';
import { ServiceError } from '@orrery/contracts';

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
  const count = rawHeaders.filter(
    (name, at) => at % 2 === 0 && name.toLowerCase() === 'authorization',
  ).length;
  if (count > 1) throw new ServiceError('unauthorized', 'Send one Authorization header');
  return token;
}
