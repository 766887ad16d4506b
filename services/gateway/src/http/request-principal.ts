import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Principal } from '../accounts/principal.js';

const NAME = 'principal';

/** Gives every request a place for whose key it presented. */
export const declarePrincipal = (app: FastifyInstance): void => void app.decorateRequest(NAME, undefined);

export const setPrincipal = (request: FastifyRequest, principal: Principal): void =>
  request.setDecorator(NAME, principal);

/** Whose key was presented; undefined on public routes and before the key was verified. */
export const principalOf = (request: FastifyRequest): Principal | undefined =>
  request.getDecorator<Principal | undefined>(NAME);
