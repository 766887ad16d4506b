import type { IncomingMessage } from 'node:http';
import { type Access, ServiceError } from '@orrery/contracts';
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { Principal } from '../../core/requests/operation.js';
import type { KeyVerifier } from './key-verifier.js';

/** The gateway's half of access: the key and its scope. The service that owns the row checks the relation. */
export function requireAccess({ scope, relation }: Access, keys: KeyVerifier): onRequestHookHandler[] {
  if (relation === 'public') return [];
  return [
    // With `done`, which saves each request a promise for this hook.
    (request, _reply, done) => {
      keys.verify(bearerToken(request.raw)).then((principal) => {
        (request as Carrier).principal = principal;
        done(refusalOf(principal, scope));
      }, failClosed(done));
    },
  ];
}

function refusalOf({ scopes }: Principal, scope: Access['scope']): ServiceError | undefined {
  if (scope === 'none' || scopes.includes(scope)) return undefined;
  return new ServiceError('forbidden', `The key lacks the scope "${scope}".`);
}

/** What a guard with `done` does with a rejection. Without an error `done` would let the request pass. */
export const failClosed =
  (done: (error: Error) => void) =>
  (error: unknown): void =>
    done(error instanceof Error ? error : new ServiceError('internal', undefined, { cause: error }));

/** Read as a plain property: the framework's `getDecorator` looks up the name each time. */
type Carrier = FastifyRequest & { principal: Principal | undefined };

/** Adds the property that holds the principal to every request. */
export const declarePrincipal = (app: FastifyInstance): void =>
  void app.decorateRequest('principal', undefined);

/** Whose key was presented; undefined on public routes and before the key was verified. */
export const principalOf = (request: FastifyRequest): Principal | undefined => (request as Carrier).principal;

const AUTHORIZATION = 'authorization';
const BEARER = /^Bearer +(\S{1,256})$/i;

/**
 * The token of `Authorization: Bearer …` (RFC 6750 §2.1).
 *
 * @throws ServiceError `unauthorized` without a token, or with two, which a proxy and this service might read differently.
 */
export function bearerToken({
  headers,
  rawHeaders,
}: Pick<IncomingMessage, 'headers' | 'rawHeaders'>): string {
  const token = BEARER.exec(headers.authorization ?? '')?.[1];
  if (token === undefined) throw new ServiceError('unauthorized', 'Send Authorization: Bearer <API key>.');
  if (countOf(AUTHORIZATION, rawHeaders) > 1)
    throw new ServiceError('unauthorized', 'Send only one Authorization header.');
  return token;
}

/** How often a header was sent; the names have the even indexes. */
function countOf(name: string, rawHeaders: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const given = rawHeaders[at];
    if (given?.length === name.length && given.toLowerCase() === name) count += 1;
  }
  return count;
}
