import { isDeepStrictEqual } from 'node:util';
import {
  attributeName,
  closest,
  cutText,
  didYouMean,
  type FieldProblem,
  fieldProblem,
  type JsonObject,
  writeInstead,
} from '@orrery/contracts';
import {
  COMPARISONS,
  type Comparisons,
  type CompiledContract,
  CRON_TEMPLATE_NAMES,
  checkCronSchedule,
  comparable,
  compileCondition,
  compileContract,
  compileTemplate,
  coverWork,
  DIRECT_TEMPLATE_NAMES,
  findBrokenChanges,
  findContractMistakes,
  parseOrder,
  SEARCH_NAMES,
  undeclaredStep,
} from '@orrery/expressions';
import { EMPTY_VERSION, type StoredVersion } from '../definitions/stored-version.js';
import { below, type ProblemKind } from '../problems.js';
import { followUpMistakes, wrongFollowUps } from './follow-up-mistakes.js';
import { attributesGuarded, TEMPLATE } from './names-in-version.js';
import {
  literalResult,
  resultMistakes,
  scheduledInputMistakes,
  templateMistakes,
} from './template-mistakes.js';

/**
 * Finds on saving what would fail on the first execution, with pointers into the version; a later kind tells what can be
 * known in spite of the earlier ones. What depends on the schemas of the world is in `schemaProblems`.
 *
 * @param now milliseconds since the epoch: a schedule must fire after it
 * @param saved the version that it takes the place of: what that has already may stay, whatever it costs
 */
export function versionProblems(
  version: StoredVersion,
  now: number,
  saved: StoredVersion = EMPTY_VERSION,
): ProblemKind[] {
  const input = readContract('/inputSchema', version.inputSchema, saved.inputSchema);
  const output = readContract('/outputSchema', version.outputSchema, saved.outputSchema);
  const ofFilters = input.problems.length > 0 ? [] : wrongFilters(version, input.contract);
  const ofContracts = [...input.problems, ...output.problems, ...ofFilters, ...wrongSearches(version)];
  const ofTemplates = [
    ...wrongTemplates(version, input.contract),
    ...literalResult(version),
    ...followUpMistakes(version, input.contract),
  ];
  return [
    { code: 'template_required', problems: missingTemplate(version) },
    { code: 'behavior_prompt_required', problems: missingPrompt(version) },
    { code: 'invalid_cron_schedule', problems: wrongSchedule(version, now) },
    {
      code: 'validation_failed',
      problems: [...ofContracts, ...wrongGuards(version), ...wrongFollowUps(version)],
    },
    { code: 'invalid_template', problems: ofTemplates },
    { code: 'invalid_template', problems: resultMistakes(version, output.contract) },
    { code: 'validation_failed', problems: scheduledInputMistakes(version, input.contract) },
  ];
}

function missingTemplate({ mutationSettings }: StoredVersion): FieldProblem[] {
  return mutationSettings?.mode === 'direct' && mutationSettings.template === undefined
    ? [fieldProblem('/mutationSettings/template', 'template_required', 'Mode "direct" requires a template.')]
    : [];
}

function missingPrompt({ mutationSettings, behaviorPrompt }: StoredVersion): FieldProblem[] {
  return mutationSettings?.mode === 'ai' && (behaviorPrompt ?? '').trim() === ''
    ? [fieldProblem('/behaviorPrompt', 'behavior_prompt_required', 'Mode "ai" requires a behaviorPrompt.')]
    : [];
}

/** A given schedule must be valid, whatever the visibility; visibility `cron` requires one. */
function wrongSchedule({ executionSettings }: StoredVersion, now: number): FieldProblem[] {
  const pointer = '/executionSettings/cron';
  const problem = (field: string, reason: string) => [
    fieldProblem(`${pointer}/${field}`, 'invalid_cron_schedule', reason),
  ];
  const cron = executionSettings?.cron;
  if (cron === undefined)
    return executionSettings?.visibility === 'cron'
      ? problem('schedule', 'Visibility "cron" requires a schedule.')
      : [];
  const found = checkCronSchedule(cron, now);
  return found === undefined ? [] : problem(found.field, found.reason);
}

interface ReadContract {
  readonly contract?: CompiledContract;
  readonly problems: readonly FieldProblem[];
}

/** Input and output must compile and mean what they say. */
function readContract(pointer: string, schema: JsonObject | null, saved: JsonObject | null): ReadContract {
  if (schema === null) return { problems: [] };
  const mistakes = findContractMistakes(schema);
  const compiled = compileContract(schema, { isNew: !isDeepStrictEqual(schema, saved) });
  if (compiled.ok) return { contract: compiled.contract, problems: below(pointer, mistakes) };
  return { problems: below(pointer, mistakes.length > 0 ? mistakes : compiled.problems) };
}

/** The paths of filters must be in the input. */
function wrongFilters({ readEntities }: StoredVersion, contract?: CompiledContract): FieldProblem[] {
  const input = contract && { contract, work: coverWork(), compared: { left: COMPARISONS } };
  return readEntities.flatMap(({ filter = [] }, entity) =>
    filter.flatMap((path, index) => filterProblems(`/readEntities/${entity}/filter/${index}`, path, input)),
  );
}

/** A search must be a condition and an order. */
const wrongSearches = ({ readEntities }: StoredVersion): FieldProblem[] =>
  readEntities.flatMap(({ where, orderBy }, entity) => {
    const condition = where === undefined ? undefined : compileCondition(where, SEARCH_NAMES);
    const order = orderBy === undefined ? undefined : parseOrder(orderBy);
    return [
      ...(condition?.ok === false
        ? [fieldProblem(`/readEntities/${entity}/where`, condition.problem.code, condition.problem.message)]
        : []),
      ...(order?.ok === false
        ? [fieldProblem(`/readEntities/${entity}/orderBy`, 'invalid_order', order.problem)]
        : []),
    ];
  });

interface FilteredInput {
  readonly contract: CompiledContract;
  readonly work: ReturnType<typeof coverWork>;
  readonly compared: Comparisons;
}

/** Without a contract any path may lead somewhere, unless it is written from outside the input. */
function filterProblems(pointer: string, path: string, input?: FilteredInput): FieldProblem[] {
  const shown = cutText(path, 100);
  if (path.split('.').includes('')) {
    const message = `The path "${shown}" has an empty part. Write names with one dot between them, as in "race.horse".`;
    return [fieldProblem(pointer, 'invalid_path', message)];
  }
  const missing = input && undeclaredStep(input.contract, path, input.work);
  if (path.startsWith('input.') && (input === undefined || missing !== undefined)) {
    const message = `Filter paths start inside the input: write "${cutText(path.slice('input.'.length), 100)}".`;
    return [fieldProblem(pointer, 'path_not_in_input', message)];
  }
  const meantPath = input === undefined || missing !== undefined ? withoutForeignSyntax(path) : path;
  if (meantPath !== path) {
    const written = meantPath === '' ? 'the name of one of its members' : `"${cutText(meantPath, 100)}"`;
    const message = `The path "${shown}" selects nothing. Filter paths are names with dots between them and start inside the input: write ${written}.`;
    return [fieldProblem(pointer, 'invalid_path', message, `Write ${written}.`)];
  }
  if (input === undefined || missing === undefined) return [];
  const step = path.split('.')[missing.index] ?? '';
  const names = comparable(missing.declared, input.compared);
  const message = `The inputSchema has no "${shown}".${didYouMean(step, names)}`;
  const suggestion = writeInstead(closest(step, names));
  return [fieldProblem(pointer, 'path_not_in_input', message, suggestion)];
}

/** The path that is meant by a placeholder, by a path of JSONPath or JavaScript, or by the input itself. */
const withoutForeignSyntax = (path: string): string =>
  path
    .replace(/^\s*\{\{\s*|\s*\}\}\s*$/g, '')
    .replace(/^\$(?:\.|$)/, '')
    .replace(/\[(\d{1,9})\]/g, '.$1')
    .replace(/^input(?:\.|$)/, '');

/** Guards name attributes; a name that no attribute can have is a mistake. */
const wrongGuards = (version: StoredVersion): FieldProblem[] =>
  attributesGuarded(version)
    .filter(({ name }) => !attributeName.safeParse(name).success)
    .map(({ pointer }) =>
      fieldProblem(pointer, 'invalid_attribute_name', 'No attribute can have this name.'),
    );

/** Placeholders must parse and use known names only; operators must be known; every change must have a key. */
function wrongTemplates(version: StoredVersion, contract?: CompiledContract): FieldProblem[] {
  const { template } = version.mutationSettings ?? {};
  const input = version.executionSettings?.cron?.input;
  const direct =
    template && compileTemplate(template, { names: DIRECT_TEMPLATE_NAMES, mutation: true, random: true });
  const cron = input && compileTemplate(input, { names: CRON_TEMPLATE_NAMES });
  const problems = direct?.ok === false ? direct.problems : [];
  const isBounded = problems.every(({ code }) => code !== 'template_too_large');
  return [
    ...below(TEMPLATE, problems),
    ...(template && isBounded ? below(TEMPLATE, findBrokenChanges(template)) : []),
    ...(isBounded ? templateMistakes(version, contract) : []),
    ...(cron?.ok === false ? below('/executionSettings/cron/input', cron.problems) : []),
  ];
}
