import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Principal } from '../accounts/principal.js';

/** Read as a plain property: the framework's `getDecorator` looks the name up anew each time. */
type Carrier = FastifyRequest & { principal: Principal | undefined };

/** Gives every request a place for whose key it presented. */
export const declarePrincipal = (app: FastifyInstance): void =>
  void app.decorateRequest('principal', undefined);

export function setPrincipal(request: FastifyRequest, principal: Principal): void {
  (request as Carrier).principal = principal;
}

/** Whose key was presented; undefined on public routes and before the key was verified. */
export const principalOf = (request: FastifyRequest): Principal | undefined => (request as Carrier).principal;
