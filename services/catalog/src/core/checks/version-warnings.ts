import {
  childPointer,
  closest,
  cutText,
  type FieldProblem,
  fieldProblem,
  nothingToRun,
  writeInstead,
} from '@orrery/contracts';
import {
  type AttributeNames,
  type AttributeText,
  COMPARISONS,
  comparable,
  findDottedNames,
  findKeysWithoutSchema,
  findLiteralReferences,
  findLiteralValues,
  findMisspeltAttributes,
  findNestedTypes,
  findUnknownAttributes,
  MAX_COMPARED,
  templateReferences,
} from '@orrery/expressions';
import { namedUsers } from '../claims.js';
import type { StoredVersion } from '../definitions/stored-version.js';
import { below, noSuch } from '../problems.js';
import { attributesGuarded, type NamedSchema, TEMPLATE } from './names-in-version.js';

/**
 * Likely mistakes that are allowed. Pointers are into the version.
 *
 * @param schemas those that the version names
 * @param events the names of all events of the world, if the version names any
 */
export function versionWarnings(
  version: StoredVersion,
  schemas: readonly NamedSchema[],
  events: readonly string[],
): FieldProblem[] {
  const attributes = new Map(
    schemas.map(({ name, definition }) => [name, definition.map((attribute) => attribute.name)]),
  );
  return [
    ...below('/inputSchema', findNestedTypes(version.inputSchema ?? {})),
    ...below('/outputSchema', findNestedTypes(version.outputSchema ?? {})),
    ...settingWarnings(version),
    ...beaconWarnings(version),
    ...memoryWarnings(version),
    ...unknownEvents(version, events),
    ...runWarnings(version),
    ...templateWarnings(version, attributes),
    ...below(
      '/executionSettings/cron/input',
      findLiteralValues(version.executionSettings?.cron?.input ?? {}),
    ),
    ...searchWarnings(version, attributes),
    ...guardWarnings(version, attributes),
    ...modelWarnings(version, attributes),
  ];
}

const NO_PAYER = fieldProblem(
  '/executionSettings/payerMayCall',
  'without_effect',
  'Nobody pays for this event, so no payer may call it. Set the visibility "public" and a priceUsd above 0.',
);

/** A schedule, a price or a permission that the other settings leave without effect. */
function settingWarnings({ executionSettings }: StoredVersion): FieldProblem[] {
  const { visibility, cron, priceUsd = 0, payerMayCall } = executionSettings ?? {};
  const without = (name: string, what: string, wanted: string) =>
    fieldProblem(
      `/executionSettings/${name}`,
      'without_effect',
      `The ${what} has no effect with the visibility "${visibility}". Set the visibility "${wanted}".`,
      `Set the visibility "${wanted}".`,
    );
  return [
    ...(cron !== undefined && visibility !== 'cron' ? [without('cron', 'schedule', 'cron')] : []),
    ...(priceUsd > 0 && visibility !== 'public' ? [without('priceUsd', 'price', 'public')] : []),
    ...(payerMayCall === true && (priceUsd === 0 || visibility !== 'public') ? [NO_PAYER] : []),
  ];
}

/** A version that draws nothing waits for no round. */
const beaconWarnings = ({ executionSettings, mutationSettings, followUps }: StoredVersion): FieldProblem[] =>
  executionSettings?.randomness === undefined || DRAWS.test(JSON.stringify([mutationSettings, followUps]))
    ? []
    : [
        fieldProblem(
          '/executionSettings/randomness',
          'without_effect',
          'The version draws no random numbers: neither its template nor its followUps call a function of "random".',
          'Draw in the template, as in "{{ random.int(1, 6) }}", or remove "randomness".',
        ),
      ];

const DRAWS = /\brandom\s*\.\s*\w/;

/** A version that reads nothing remembers nothing of what it reads. */
const memoryWarnings = ({ readHistory, readEntities }: StoredVersion): FieldProblem[] =>
  readHistory?.instances === undefined || readEntities.length > 0
    ? []
    : [
        fieldProblem(
          '/readHistory/instances',
          'without_effect',
          'The version reads no instances, so it remembers no execution that changed one.',
          'Name in readEntities the entity schemas whose instances it reads, or remove "instances".',
        ),
      ];

/** Events that the world lacks. They may still be created, so it is no mistake to name them. */
function unknownEvents(version: StoredVersion, known: readonly string[]): FieldProblem[] {
  const compared = { left: COMPARISONS };
  return eventsNamed(version).flatMap(({ name, pointer, effect }) => {
    if (known.includes(name)) return [];
    const names = comparable(known, compared);
    const message = `${noSuch('The world', 'event', name, names)} ${effect}`;
    return [fieldProblem(pointer, 'unknown_event', message, writeInstead(closest(name, names)))];
  });
}

/** The other events that a version names, with what happens where there is none of this name. */
export const eventsNamed = ({ readHistory, followUps = [] }: StoredVersion) => [
  ...(readHistory?.events ?? []).map((name, at) => ({
    ...{ name, pointer: `/readHistory/events/${at}` },
    effect: 'Nothing of it is remembered.',
  })),
  ...followUps.flatMap(({ event: name }, at) =>
    name === undefined
      ? []
      : [
          {
            name,
            pointer: `/followUps/${at}/event`,
            effect: 'Executions that follow fail unless it is bound.',
          },
        ],
  ),
];

/** Looked for without a regular expression, which would go through the rest of the text from each pair of braces. */
function firstPlaceholder(text: string): string | undefined {
  const start = text.indexOf('{{');
  const end = start < 0 ? -1 : text.indexOf('}}', start + 2);
  return end < 0 ? undefined : text.slice(start, end + 2);
}

/** What a version runs that nobody can have meant so: nothing, or a prompt with the placeholders of a template. */
function runWarnings(version: StoredVersion): FieldProblem[] {
  const { mutationSettings, behaviorPrompt } = version;
  const placeholder = firstPlaceholder(behaviorPrompt ?? '');
  const literal = `A model gets the behaviorPrompt as it is written: "${cutText(placeholder ?? '', 80)}" is no placeholder there. It is shown the input beside it; call the fields by their names.`;
  const leftover =
    'The template has no effect in mode "ai". Set the mode "direct", or remove the template with null.';
  const isLeftover = mutationSettings?.mode === 'ai' && mutationSettings.template !== undefined;
  return [
    ...(placeholder === undefined ? [] : [fieldProblem('/behaviorPrompt', 'literal_reference', literal)]),
    ...(isLeftover ? [fieldProblem(TEMPLATE, 'without_effect', leftover)] : []),
    ...nothingToRun(version, '/mutationSettings'),
  ];
}

function templateWarnings({ mutationSettings }: StoredVersion, attributes: AttributeNames): FieldProblem[] {
  const template = mutationSettings?.template;
  if (template === undefined) return [];
  return below(TEMPLATE, [
    ...findKeysWithoutSchema(template),
    ...findDottedNames(template),
    ...findLiteralReferences(template),
    ...findMisspeltAttributes(template, templateReferences(template), attributes),
  ]);
}

/** Searches by attributes that their schema does not name. */
function searchWarnings({ readEntities }: StoredVersion, attributes: AttributeNames): FieldProblem[] {
  const compared = { left: COMPARISONS };
  return readEntities.flatMap(({ schema, where, orderBy }, at) => {
    const pointer = `/readEntities/${at}`;
    const texts: AttributeText[] = [
      ...(where === undefined
        ? []
        : [{ pointer: `${pointer}/where`, text: where, kind: 'condition' } as const]),
      ...(orderBy === undefined
        ? []
        : [{ pointer: `${pointer}/orderBy`, text: orderBy, kind: 'list' } as const]),
    ];
    return findUnknownAttributes(texts, { schema, attributes: attributes.get(schema) ?? [] }, compared);
  });
}

/** A guard on an attribute that nothing has guards nothing. */
function guardWarnings(version: StoredVersion, attributes: AttributeNames): FieldProblem[] {
  const known = [...attributes.values()].flat();
  const named = new Set(known);
  const compared = { left: COMPARISONS };
  const unknown = attributesGuarded(version).filter(({ name }) => !named.has(name));
  return unknown.slice(0, MAX_COMPARED).flatMap(({ name, pointer }) => {
    const meant = closest(name, comparable(known, compared));
    const message = `No entity schema of the version has an attribute "${name}". Did you mean "${meant}"?`;
    return meant === undefined
      ? []
      : [fieldProblem(pointer, 'unknown_attribute', message, writeInstead(meant))];
  });
}

/** US dollars that an execution costs a wallet. */
export const priceOf = ({ executionSettings }: StoredVersion): number =>
  executionSettings?.visibility === 'public' ? (executionSettings.priceUsd ?? 0) : 0;

/** A draft that has become dearer costs that at once where it is bound. @param users deployments that bind it */
export function priceWarnings(version: StoredVersion, users: readonly string[]): FieldProblem[] {
  if (users.length === 0) return [];
  const message =
    `Deployments bind this version: ${namedUsers(users)}. An execution costs a wallet ${priceOf(version)} USD there from ` +
    'now on; where the deployment has no payToAddress, or one on chains where this service takes no payments, no wallet can ' +
    'execute the event.';
  return [fieldProblem('/executionSettings/priceUsd', 'price_raised', message)];
}

function modelWarnings(version: StoredVersion, attributes: AttributeNames): FieldProblem[] {
  const { mutationSettings, behaviorPrompt, stateChanges } = version;
  const isAi = mutationSettings === null ? behaviorPrompt !== null : mutationSettings.mode === 'ai';
  if (!isAi) return [];
  return [...emptySchemas(stateChanges, attributes), ...readsNothing(version, attributes)];
}

/** The strict form, in which models are asked first, can set attributes alone (docs/ai.md). */
function emptySchemas(
  stateChanges: StoredVersion['stateChanges'],
  attributes: AttributeNames,
): FieldProblem[] {
  const empty = Object.keys(stateChanges ?? {}).filter((name) => attributes.get(name)?.length === 0);
  return empty.map((name) =>
    fieldProblem(
      childPointer('/stateChanges', name),
      'no_attributes',
      `The entity schema "${name}" has no attributes, so a model is not told what it may set. Add attributes to it.`,
    ),
  );
}

/** A model changes only what it was shown (docs/ai.md). */
function readsNothing(
  { readEntities, stateChanges }: StoredVersion,
  attributes: AttributeNames,
): FieldProblem[] {
  const changesNothing = stateChanges !== null && Object.keys(stateChanges).length === 0;
  if (readEntities.length > 0 || changesNothing) return [];
  const [schema = 'horse'] = [...Object.keys(stateChanges ?? {}), ...attributes.keys()];
  const message =
    'The model is shown no instances, so it can create new ones and change none. To let it change some, set readEntities to ' +
    `${JSON.stringify([{ schema }])}, or whichever schemas it needs; where it has to change nothing, set stateChanges to {}.`;
  return [fieldProblem('/readEntities', 'reads_nothing', message)];
}
