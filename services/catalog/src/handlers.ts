import {
  type CallContext,
  type catalogContract,
  type ErrorCode,
  fieldProblem,
  type Handlers,
  ServiceError,
} from '@orrery/contracts';
import { classifyPostgresError, toCallError } from '@orrery/database';
import type { Clock } from '@orrery/service-kit';
import { attributeHandlers } from './attributes/handlers.js';
import type { Announce } from './changes/announce-change.js';
import { claimHandlers } from './claims/handlers.js';
import type { CatalogLimits } from './config.js';
import type { Db, Pool } from './database/db.js';
import { checkHandlers } from './definitions/check-definitions.js';
import { definitionHandlers } from './definitions/handlers.js';
import { entitySchemaHandlers } from './entity-schemas/handlers.js';
import { eventHandlers } from './events/handlers.js';
import { refuseLargeTexts } from './limits/refuse-large-texts.js';
import { versionHandlers } from './versions/handlers.js';
import type { WorldDependencies } from './worlds/change-world.js';
import { worldHandlers } from './worlds/handlers.js';

/** What the catalog's handlers work with, built in `service.ts`. Each room declares what it takes of it. */
interface CatalogContext {
  readonly db: Db;
  /** For prepared statements. */
  readonly pool: Pool;
  readonly clock: Clock;
  readonly limits: CatalogLimits;
  /** Writes a change to the outbox, in the transaction that makes it. */
  readonly announce: Announce;
  readonly learnQuota: WorldDependencies['learnQuota'];
}

export type CatalogHandlers = Handlers<typeof catalogContract.rpcs>;

/** The handlers of all RPCs of the catalog. A missing RPC does not compile. */
export const catalogHandlers = (context: CatalogContext): CatalogHandlers =>
  refusing(context.limits, {
    ...worldHandlers(context),
    ...entitySchemaHandlers(context),
    ...attributeHandlers(context),
    ...eventHandlers(context),
    ...versionHandlers(context),
    ...definitionHandlers(context),
    ...checkHandlers(context),
    ...claimHandlers(context),
    'limits.ofDefinitions': async () => limitsOf(context.limits),
  });

const limitsOf = ({ worldSchemaBytes, ...limits }: CatalogLimits) => ({
  ...limits,
  schemasBytesPerWorld: worldSchemaBytes,
});

type AnyHandler = (request: never, call: CallContext) => Promise<unknown>;

/** Wraps every handler: bodies keep to the limits, and whatever it throws leaves the service as a `ServiceError`. */
function refusing<H extends Record<keyof H, AnyHandler>>(limits: CatalogLimits, handlers: H): H {
  const wrapped = Object.entries<AnyHandler>(handlers).map(([name, handle]) => {
    const refuse = (error: unknown) => {
      throw toRefusal(error);
    };
    const handler: AnyHandler = (request, call) =>
      Promise.resolve()
        .then(() => {
          refuseLargeTexts((request as { body?: unknown }).body, limits);
          return handle(request, call);
        })
        .catch(refuse);
    return [name, handler];
  });
  return Object.fromEntries(wrapped) as H;
}

type Meaning = readonly [code: ErrorCode, message: string];

/** Constraints whose violation is the caller's mistake, by name. */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  entity_schemas_name_key: ['entity_schema_exists', 'The world has an entity schema of this name already.'],
  attributes_name_key: ['attribute_exists', 'The entity schema has an attribute of this name already.'],
  events_name_key: ['event_exists', 'The world has an event of this name already.'],
};

/** Turns an error of a store into one that may leave the service. */
function toRefusal(error: unknown): ServiceError {
  const failure = classifyPostgresError(error);
  const meaning = 'constraint' in failure ? MEANINGS[failure.constraint] : undefined;
  if (meaning === undefined) return toCallError(error);
  const [code, message] = meaning;
  return new ServiceError(code, message, { errors: [fieldProblem('/name', code, message)], cause: error });
}
