import type { CallContext, catalogContract, Handlers } from '@orrery/contracts';
import { attributeHandlers } from './attributes/handlers.js';
import { claimHandlers } from './claims/handlers.js';
import type { CatalogContext } from './context.js';
import { toRefusal } from './database/refusals.js';
import { definitionHandlers } from './definitions/handlers.js';
import { entitySchemaHandlers } from './entity-schemas/handlers.js';
import { eventHandlers } from './events/handlers.js';
import { versionHandlers } from './versions/handlers.js';
import { worldHandlers } from './worlds/handlers.js';

export type CatalogHandlers = Handlers<typeof catalogContract.rpcs>;

/** Everything that the catalog answers: a forgotten RPC does not compile. */
export const catalogHandlers = (context: CatalogContext): CatalogHandlers =>
  refusing({
    ...worldHandlers(context),
    ...entitySchemaHandlers(context),
    ...attributeHandlers(context),
    ...eventHandlers(context),
    ...versionHandlers(context),
    ...definitionHandlers(context),
    ...claimHandlers(context),
  });

type AnyHandler = (request: never, call: CallContext) => Promise<unknown>;

/** Whatever a handler throws becomes an error that may leave the service. */
function refusing<H extends Record<keyof H, AnyHandler>>(handlers: H): H {
  const wrapped = Object.entries<AnyHandler>(handlers).map(([name, handle]) => {
    const refuse = (error: unknown) => {
      throw toRefusal(error);
    };
    const handler: AnyHandler = (request, call) =>
      Promise.resolve()
        .then(() => handle(request, call))
        .catch(refuse);
    return [name, handler];
  });
  return Object.fromEntries(wrapped) as H;
}
