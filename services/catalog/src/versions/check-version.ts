import {
  attributeName,
  childPointer,
  type ErrorCode,
  type FieldProblem,
  fieldProblem,
  ServiceError,
} from '@orrery/contracts';
import {
  CRON_TEMPLATE_NAMES,
  checkCronSchedule,
  compileContract,
  compileTemplate,
  contractCoversPath,
  DIRECT_TEMPLATE_NAMES,
  findBrokenChanges,
} from '@orrery/expressions';
import { contentBytes } from '../hashing/content-hash.js';
import type { StoredVersion } from './stored-version.js';

interface CheckOptions {
  /** Where the definition stands in the request: '' or '/firstVersion'. */
  pointer: string;
  /** Milliseconds since the epoch: a schedule must fire after it. */
  now: number;
  /** Bytes of JSON that a definition may take. */
  maxBytes: number;
}

/**
 * Finds when it is saved what would fail at the first run; what depends on the world's schemas is checked where they
 * are held (`save-version.ts`).
 *
 * @throws ServiceError with all problems of the first kind found: `template_required`, `behavior_prompt_required`,
 *   `invalid_cron_schedule`, `validation_failed`, `invalid_template`.
 */
export function checkVersion(version: StoredVersion, { pointer, now, maxBytes }: CheckOptions): void {
  const refuse = (problems: FieldProblem[], code: ErrorCode) => throwProblems(below(pointer, problems), code);
  refuse(oversize(version, maxBytes), 'validation_failed');
  refuse(missingTemplate(version), 'template_required');
  refuse(missingPrompt(version), 'behavior_prompt_required');
  refuse(wrongSchedule(version, now), 'invalid_cron_schedule');
  refuse([...wrongContracts(version), ...wrongGuards(version)], 'validation_failed');
  refuse(wrongTemplates(version), 'invalid_template');
}

function throwProblems(errors: FieldProblem[], code: ErrorCode): void {
  const [first] = errors;
  if (first !== undefined) throw new ServiceError(code, `${first.pointer}: ${first.message}`, { errors });
}

function oversize(version: StoredVersion, maxBytes: number): FieldProblem[] {
  const bytes = contentBytes(version);
  if (bytes <= maxBytes) return [];
  const message = `a definition may take at most ${maxBytes} bytes, this one takes ${bytes}`;
  return [fieldProblem('', 'too_large', message)];
}

function missingTemplate({ mutationSettings }: StoredVersion): FieldProblem[] {
  return mutationSettings?.mode === 'direct' && mutationSettings.template === undefined
    ? [fieldProblem('/mutationSettings/template', 'template_required', 'mode "direct" needs a template')]
    : [];
}

function missingPrompt({ mutationSettings, behaviorPrompt }: StoredVersion): FieldProblem[] {
  return mutationSettings?.mode === 'ai' && (behaviorPrompt ?? '').trim() === ''
    ? [fieldProblem('/behaviorPrompt', 'behavior_prompt_required', 'mode "ai" needs a behaviorPrompt')]
    : [];
}

/** A schedule that is given must be right, whatever the visibility; visibility `cron` needs one. */
function wrongSchedule({ executionSettings }: StoredVersion, now: number): FieldProblem[] {
  const place = '/executionSettings/cron';
  const problem = (field: string, reason: string) => [
    fieldProblem(`${place}/${field}`, 'invalid_cron_schedule', reason),
  ];
  const cron = executionSettings?.cron;
  if (cron === undefined)
    return executionSettings?.visibility === 'cron'
      ? problem('schedule', 'visibility "cron" needs a schedule')
      : [];
  const found = checkCronSchedule(cron, now);
  return found === undefined ? [] : problem(found.field, found.reason);
}

/** Input and output must compile, and what a filter reads must be in the input. */
function wrongContracts({ inputSchema, outputSchema, readEntities }: StoredVersion): FieldProblem[] {
  const input = inputSchema === null ? undefined : compileContract(inputSchema);
  const output = outputSchema === null ? undefined : compileContract(outputSchema);
  const problems = [
    ...(input?.ok === false ? below('/inputSchema', input.problems) : []),
    ...(output?.ok === false ? below('/outputSchema', output.problems) : []),
  ];
  if (input?.ok !== true) return problems;
  const { contract } = input;
  const uncovered = readEntities.flatMap(({ filter = [] }, entity) =>
    filter.flatMap((path, index) =>
      contractCoversPath(contract, path) ? [] : [notCovered(`/readEntities/${entity}/filter/${index}`, path)],
    ),
  );
  return [...problems, ...uncovered];
}

const notCovered = (pointer: string, path: string): FieldProblem =>
  fieldProblem(pointer, 'path_not_in_input', `the inputSchema has no "${path.slice(0, 100)}"`);

/** Guards speak of attributes by name; one that can never be an attribute's is a mistake. */
function wrongGuards({ guards }: StoredVersion): FieldProblem[] {
  const deltas = Object.keys(guards?.maxDelta ?? {}).map((name) => ({
    name,
    pointer: childPointer('/guards/maxDelta', name),
  }));
  const denied = (guards?.deny ?? []).map((name, index) => ({ name, pointer: `/guards/deny/${index}` }));
  return [...deltas, ...denied]
    .filter(({ name }) => !attributeName.safeParse(name).success)
    .map(({ pointer }) => fieldProblem(pointer, 'invalid_attribute_name', 'no attribute can have this name'));
}

/** Every placeholder parses and names only what there will be; every operator is known, every change has its key. */
function wrongTemplates({ mutationSettings, executionSettings }: StoredVersion): FieldProblem[] {
  const { template } = mutationSettings ?? {};
  const input = executionSettings?.cron?.input;
  const direct =
    template === undefined
      ? undefined
      : compileTemplate(template, { names: DIRECT_TEMPLATE_NAMES, mutation: true });
  const cron = input === undefined ? undefined : compileTemplate(input, { names: CRON_TEMPLATE_NAMES });
  return [
    ...(direct?.ok === false ? below('/mutationSettings/template', direct.problems) : []),
    ...(direct?.ok && template ? below('/mutationSettings/template', findBrokenChanges(template)) : []),
    ...(cron?.ok === false ? below('/executionSettings/cron/input', cron.problems) : []),
  ];
}

/** Problems of a part, with pointers into the whole. */
const below = (pointer: string, problems: readonly FieldProblem[]): FieldProblem[] =>
  problems.map((problem) => ({ ...problem, pointer: `${pointer}${problem.pointer}` }));
