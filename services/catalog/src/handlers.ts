import {
  type CallContext,
  type catalogContract,
  type ErrorCode,
  fieldProblem,
  type Handlers,
  type MistakeCode,
  MOST_INDEXED,
  ServiceError,
  withSuggestions,
} from '@orrery/contracts';
import { classifyPostgresError, toCallError } from '@orrery/database';
import { refuseLargeTexts } from './core/checks/large-texts.js';
import type { CatalogLimits } from './core/limits.js';
import { checkHandlers } from './operations/check-definitions.js';
import { definitionHandlers } from './operations/definitions.js';
import { eventHandlers } from './operations/events/event-handlers.js';
import { draftHandlers, versionHandlers } from './operations/events/version-handlers.js';
import type { CatalogContext } from './operations/operation.js';
import { attributeHandlers, entitySchemaHandlers } from './operations/schemas/schema-handlers.js';
import { worldHandlers } from './operations/worlds.js';

export type CatalogHandlers = Handlers<typeof catalogContract.rpcs>;

/** The handlers of all RPCs of the catalog. A missing RPC does not compile. */
export const catalogHandlers = (context: CatalogContext): CatalogHandlers => ({
  ...refusing(context.limits, {
    ...worldHandlers(context),
    ...entitySchemaHandlers(context),
    ...attributeHandlers(context),
    ...eventHandlers(context),
    ...versionHandlers(context),
    ...draftHandlers(context),
    ...checkHandlers(context),
  }),
  ...definitionHandlers(context),
  'limits.ofDefinitions': async () => limitsOf(context.limits),
});

const limitsOf = ({ worldSchemaBytes, ...limits }: CatalogLimits) => ({
  ...limits,
  indexedAttributesPerSchema: MOST_INDEXED,
  schemasBytesPerWorld: worldSchemaBytes,
});

type AnyHandler = (request: never, call: CallContext) => Promise<unknown>;

/** Bodies keep to the limits, and what breaks a constraint is told as the caller's mistake that it is. */
function refusing<H extends Record<keyof H, AnyHandler>>(limits: CatalogLimits, handlers: H): H {
  const wrapped = Object.entries<AnyHandler>(handlers).map(([name, handle]) => {
    const handler: AnyHandler = async (request, call) => {
      try {
        const { body } = request as { body?: object };
        if (body !== undefined) refuseLargeTexts(body, limits);
        return await handle(request, call);
      } catch (error) {
        throw toRefusal(error);
      }
    };
    return [name, handler];
  });
  return Object.fromEntries(wrapped) as H;
}

type Meaning = readonly [code: ErrorCode & MistakeCode, message: string];

/** Constraints whose violation is the caller's mistake, by name. */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  entity_schemas_name_key: ['entity_schema_exists', 'The world has an entity schema of this name already.'],
  attributes_name_key: ['attribute_exists', 'The entity schema has an attribute of this name already.'],
  events_name_key: ['event_exists', 'The world has an event of this name already.'],
};

/** Every problem of a definition leaves the catalog with a suggestion. */
function toRefusal(error: unknown): ServiceError {
  const { code, message, errors, facts, cause } = toServiceError(error);
  return new ServiceError(code, message, {
    errors: withSuggestions(errors),
    facts,
    cause,
  });
}

function toServiceError(error: unknown): ServiceError {
  const failure = classifyPostgresError(error);
  const meaning = 'constraint' in failure ? MEANINGS[failure.constraint] : undefined;
  if (meaning === undefined) return toCallError(error);
  const [code, message] = meaning;
  return new ServiceError(code, message, { errors: [fieldProblem('/name', code, message)], cause: error });
}
