import { setImmediate } from 'node:timers/promises';
import {
  type CheckDefinitionsBody,
  type CreateEntitySchemaBody,
  type CreateEventBody,
  type checkRpcs,
  type DefinitionCheck,
  type ErrorCode,
  type FieldProblem,
  fieldProblem,
  type Handlers,
  MAX_FOUND,
  ServiceError,
} from '@orrery/contracts';
import { checkAttributes, definedBy } from '../attributes/attribute-rules.js';
import { refuseOversizedSchema } from '../entity-schemas/schema-rules.js';
import { refuseLargeTexts } from '../limits/refuse-large-texts.js';
import { refuseOversize, versionProblems } from '../versions/check-version.js';
import { mergeVersion } from '../versions/merge-version.js';
import { below } from '../versions/problem-places.js';
import { readSpellings } from '../versions/read-spellings.js';
import { problemsOfKinds } from '../versions/refuse-problems.js';
import type { SaveDependencies } from '../versions/save-version.js';
import { EMPTY_VERSION, schemasInTemplate, schemasNamed } from '../versions/stored-version.js';
import { problemsWithSchemas } from '../versions/version-schemas.js';
import { type NamedSchemas, versionWarnings } from '../versions/version-warnings.js';

export const checkHandlers = (context: SaveDependencies): Handlers<typeof checkRpcs> => ({
  'worlds.check': async ({ body }) => ({ data: await checkDefinitions(context, body) }),
});

/**
 * Everything that saving the definitions would refuse or warn of, by themselves: what other definitions, deployments,
 * limits of a world and quotas would refuse is not known here.
 */
async function checkDefinitions(
  context: SaveDependencies,
  { entitySchemas, events }: CheckDefinitionsBody,
): Promise<DefinitionCheck> {
  const problems: FieldProblem[] = [
    ...repeated(entitySchemas, '/entitySchemas', 'entity_schema_exists'),
    ...repeated(events, '/events', 'event_exists'),
    ...entitySchemas.flatMap((schema, at) =>
      problemsOf(`/entitySchemas/${at}`, () => checkSchema(context, schema)),
    ),
  ];
  const schemas = entitySchemas.map(({ name, attributes = [] }) => ({
    name,
    definition: attributes.map(definedBy),
  }));
  const warnings: FieldProblem[] = [];
  for (const [at, event] of events.entries()) {
    // A large version takes its time; other requests get theirs.
    await setImmediate();
    problems.push(
      ...problemsOf(`/events/${at}`, () => {
        const found = checkEvent(context, event, schemas);
        warnings.push(...below(`/events/${at}`, found.warnings));
        problems.push(...below(`/events/${at}`, found.problems));
      }),
    );
  }
  return { problems: problems.slice(0, MAX_FOUND), warnings: warnings.slice(0, MAX_FOUND) };
}

function checkSchema({ limits }: SaveDependencies, body: CreateEntitySchemaBody): void {
  refuseLargeTexts(body, limits);
  const definitions = (body.attributes ?? []).map(definedBy);
  checkAttributes(definitions);
  refuseOversizedSchema(definitions, limits);
}

/** @throws ServiceError with pointers into the event, where nothing else can be told of it */
function checkEvent(
  { clock, limits }: SaveDependencies,
  event: CreateEventBody,
  schemas: NamedSchemas,
): DefinitionCheck {
  refuseLargeTexts(event, limits);
  const root = '/firstVersion';
  const { firstVersion: body } = event;
  const version = mergeVersion(EMPTY_VERSION, readSpellings(body, root));
  refuseOversize(version, limits.versionBytes, root);
  const spelling = body.stateChanges === undefined ? 'stateChangeSchema' : 'stateChanges';
  const named = new Set([...schemasNamed(version), ...schemasInTemplate(version)]);
  const used = schemas.filter(({ name }) => named.has(name));
  return {
    problems: problemsOfKinds(
      [...versionProblems(version, clock.now()), ...problemsWithSchemas(version, spelling, schemas)],
      root,
    ),
    warnings: below(root, versionWarnings(version, used)),
  };
}

/** What a check refuses, with pointers into the body. */
function problemsOf(pointer: string, check: () => void): FieldProblem[] {
  try {
    check();
    return [];
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { code, message, errors } = error;
    return below(pointer, errors.length > 0 ? errors : [fieldProblem('', code, message)]);
  }
}

function repeated(
  all: readonly { readonly name: string }[],
  pointer: string,
  code: ErrorCode,
): FieldProblem[] {
  const seen = new Set<string>();
  return all.flatMap(({ name }, at) => {
    const isRepeated = seen.has(name);
    seen.add(name);
    return isRepeated ? [fieldProblem(`${pointer}/${at}/name`, code, `"${name}" appears twice.`)] : [];
  });
}
