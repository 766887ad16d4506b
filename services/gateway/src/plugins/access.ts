import { type Access, ServiceError } from '@orrery/contracts';
import type { onRequestHookHandler } from 'fastify';
import type { KeyVerifier } from '../accounts/key-verifier.js';
import type { Principal } from '../accounts/principal.js';
import { setPrincipal } from '../http/request-principal.js';
import { bearerToken } from './bearer-token.js';
import { failClosed } from './fail-closed.js';

/** The gateway's half of access: the key and its scope. The relation is checked by the service that owns the row. */
export function requireAccess({ scope, relation }: Access, keys: KeyVerifier): onRequestHookHandler[] {
  if (relation === 'public') return [];
  return [
    // With `done`, so that each request is spared a promise of this hook's own.
    (request, _reply, done) => {
      keys.verify(bearerToken(request.raw)).then((principal) => {
        setPrincipal(request, principal);
        done(refusalOf(principal, scope));
      }, failClosed(done));
    },
  ];
}

function refusalOf({ scopes }: Principal, scope: Access['scope']): ServiceError | undefined {
  if (scope === 'none' || scopes.includes(scope)) return undefined;
  return new ServiceError('forbidden', `The key lacks the scope "${scope}"`);
}
