import { setImmediate } from 'node:timers/promises';
import {
  type CheckDefinitionsBody,
  type CreateEventBody,
  type checkRpcs,
  type DefinitionCheck,
  type FieldProblem,
  fieldProblem,
  type Handlers,
  MAX_FOUND,
  type MistakeCode,
  ServiceError,
  suggested,
} from '@orrery/contracts';
import { checkVersion, writeVersion } from '../core/checks/check-version.js';
import { refuseLargeTexts } from '../core/checks/large-texts.js';
import type { NamedSchema } from '../core/checks/names-in-version.js';
import { attributesOf, definedBy, toDefinition } from '../core/definitions/schema-rules.js';
import { EMPTY_VERSION, schemasInTemplate, schemasNamed } from '../core/definitions/stored-version.js';
import { below, problemsOfKinds } from '../core/problems.js';
import type { CatalogContext } from './operation.js';

export const checkHandlers = (context: CatalogContext): Handlers<typeof checkRpcs> => ({
  'worlds.check': async ({ body }) => ({ data: await checkDefinitions(context, body) }),
});

/**
 * Everything that saving the definitions would refuse or warn of, by themselves: what other definitions, deployments,
 * limits of a world and quotas would refuse is not known here.
 */
async function checkDefinitions(
  context: CatalogContext,
  { entitySchemas, events }: CheckDefinitionsBody,
): Promise<DefinitionCheck> {
  const problems: FieldProblem[] = [
    ...repeated(entitySchemas, '/entitySchemas', 'entity_schema_exists'),
    ...repeated(events, '/events', 'event_exists'),
  ];
  for (const [at, schema] of entitySchemas.entries()) {
    // Large definitions take their time; other requests get theirs.
    await setImmediate();
    problems.push(
      ...problemsOf(`/entitySchemas/${at}`, () => {
        refuseLargeTexts(schema, context.limits);
        attributesOf(schema.attributes ?? [], context.limits);
      }),
    );
  }
  const schemas = entitySchemas.map(({ name, attributes = [] }) => ({
    name,
    definition: attributes.map((attribute) => toDefinition(definedBy(attribute))),
  }));
  const names = events.map(({ name }) => name);
  const warnings: FieldProblem[] = [];
  for (const [at, event] of events.entries()) {
    await setImmediate();
    problems.push(
      ...problemsOf(`/events/${at}`, () => {
        const found = checkEvent(context, event, schemas, names);
        warnings.push(...below(`/events/${at}`, found.warnings));
        problems.push(...below(`/events/${at}`, found.problems));
      }),
    );
  }
  return {
    problems: problems.slice(0, MAX_FOUND).map(suggested),
    warnings: warnings.slice(0, MAX_FOUND).map(suggested),
  };
}

interface Found {
  readonly problems: readonly FieldProblem[];
  readonly warnings: readonly FieldProblem[];
}

/** @throws ServiceError with pointers into the event, where nothing else can be told of it */
function checkEvent(
  { clock, limits }: CatalogContext,
  event: CreateEventBody,
  schemas: readonly NamedSchema[],
  events: readonly string[],
): Found {
  refuseLargeTexts(event, limits);
  const root = '/firstVersion';
  const written = writeVersion(EMPTY_VERSION, event.firstVersion, limits.versionBytes, root);
  const { definition } = written;
  const names = new Set([...schemasNamed(definition), ...schemasInTemplate(definition)]);
  const named = schemas.filter(({ name }) => names.has(name));
  const known = schemas.map(({ name }) => name);
  const { kinds, warnings } = checkVersion(written, { named, known, events }, clock.now());
  return { problems: problemsOfKinds(kinds, root), warnings: below(root, warnings) };
}

function problemsOf(pointer: string, check: () => void): FieldProblem[] {
  try {
    check();
    return [];
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { code, message, errors } = error;
    return below(pointer, errors.length > 0 ? errors : [{ pointer: '', code, message }]);
  }
}

function repeated(
  all: readonly { readonly name: string }[],
  pointer: string,
  code: MistakeCode,
): FieldProblem[] {
  const seen = new Set<string>();
  return all.flatMap(({ name }, at) => {
    const isRepeated = seen.has(name);
    seen.add(name);
    return isRepeated ? [fieldProblem(`${pointer}/${at}/name`, code, `"${name}" appears twice.`)] : [];
  });
}
