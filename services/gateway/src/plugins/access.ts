import { type Access, ServiceError } from '@orrery/contracts';
import type { FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import type { KeyVerifier } from '../accounts/key-verifier.js';
import { setPrincipal } from '../http/request-principal.js';
import { bearerToken } from './bearer-token.js';

/** The gateway's half of access: the key and its scope. The relation is checked by the service that owns the row. */
export function requireAccess({ scope, relation }: Access, keys: KeyVerifier): onRequestAsyncHookHandler[] {
  if (relation === 'public') return [];
  return [
    async (request: FastifyRequest) => {
      const principal = await keys.verify(bearerToken(request.raw));
      setPrincipal(request, principal);
      if (scope !== 'none' && !principal.scopes.includes(scope))
        throw new ServiceError('forbidden', `The key lacks the scope "${scope}"`);
    },
  ];
}
