import {
  closest,
  didYouMean,
  type FieldProblem,
  fieldProblem,
  isJsonObject,
  type JsonObject,
  MAX_PROBLEMS,
  shownValue,
  toNfc,
  writeInstead,
} from '@orrery/contracts';
import {
  COMPARISONS,
  type CompiledContract,
  CRON_NAME_KINDS,
  changesIn,
  comparable,
  DIRECT_NAME_KINDS,
  findBracesInKeys,
  findCertainRefusals,
  findUndeclaredInputs,
  findUnreadEntities,
  findUnreadHistory,
  findWrongOperands,
  isPlaceholder,
  resultOf,
  templateReferences,
} from '@orrery/expressions';
import type { StoredVersion } from '../definitions/stored-version.js';
import { below } from '../problems.js';
import { TEMPLATE } from './names-in-version.js';

/**
 * What a template that compiles gets wrong in every execution: it reads what the contract or `readEntities` lacks, changes
 * what the version's own map does not name, or gives an operator what it cannot take. Pointers are into the version.
 */
export function templateMistakes(
  { mutationSettings, readEntities, readHistory, stateChanges }: StoredVersion,
  contract?: CompiledContract,
): FieldProblem[] {
  const template = mutationSettings?.template;
  if (template === undefined) return [];
  const references = templateReferences(template);
  const read = readEntities.map(({ schema }) => toNfc(schema));
  const problems = [
    ...findBracesInKeys(template),
    ...findWrongOperands(template),
    ...(stateChanges === null ? [] : outsideMap(template, Object.keys(stateChanges))),
    ...findUnreadEntities(references, read),
    ...(readHistory === undefined ? findUnreadHistory(references) : []),
    ...(contract === undefined ? [] : findUndeclaredInputs(references, contract)),
  ];
  return below(TEMPLATE, problems.slice(0, MAX_PROBLEMS));
}

const outsideMap = (template: JsonObject, mapped: readonly string[]): FieldProblem[] => {
  const compared = { left: COMPARISONS };
  return changesIn(template)
    .flatMap(({ schema, pointer }) =>
      schema === undefined || mapped.includes(schema) ? [] : [{ schema, pointer }],
    )
    .slice(0, MAX_PROBLEMS)
    .map(({ schema, pointer }) => outside(pointer, schema, comparable(mapped, compared)));
};

/** @param mapped the schemas that the map names, for a suggestion */
function outside(pointer: string, schema: string, mapped: readonly string[]): FieldProblem {
  const add = `Add "${schema}": "partial" to stateChanges to change its instances.`;
  const advice = didYouMean(schema, mapped) || ` ${add}`;
  const message = `The version's stateChanges does not name "${schema}".${advice}`;
  return fieldProblem(pointer, 'change_not_allowed', message, writeInstead(closest(schema, mapped)) ?? add);
}

/**
 * What the `inputSchema` refuses of every input that the schedule makes. A version that runs on a schedule without an
 * input template is executed with `{}`.
 */
export function scheduledInputMistakes(
  { executionSettings }: StoredVersion,
  contract?: CompiledContract,
): FieldProblem[] {
  if (contract === undefined || executionSettings?.cron === undefined) return [];
  const { visibility, cron } = executionSettings;
  const template = cron.input ?? (visibility === 'cron' ? {} : undefined);
  if (template === undefined) return [];
  const found = findCertainRefusals(template, contract, CRON_NAME_KINDS);
  return below('/executionSettings/cron/input', found).map((problem) => ({
    ...problem,
    message: `The inputSchema refuses every input of the schedule: ${problem.message}`,
  }));
}

/** A result that is written out, or a text around placeholders, is known before an execution. */
export function literalResult({ mutationSettings }: StoredVersion): FieldProblem[] {
  if (mutationSettings?.mode !== 'direct') return [];
  const result = resultOf(mutationSettings.template ?? {}) ?? null;
  if (result === null || isJsonObject(result) || isPlaceholder(result)) return [];
  const message = `The result must be an object, not ${shownValue(result)}: write { "value": … } around it.`;
  return [fieldProblem(`${TEMPLATE}/result`, 'invalid_mutation', message, 'Write { "value": … } around it.')];
}

/** What the `outputSchema` refuses of every result that the template makes; none is checked as `{}` is. */
export function resultMistakes(
  { mutationSettings }: StoredVersion,
  contract?: CompiledContract,
): FieldProblem[] {
  if (contract === undefined || mutationSettings?.mode !== 'direct') return [];
  const result = resultOf(mutationSettings.template ?? {}) ?? {};
  if (!isJsonObject(result)) return [];
  const found = findCertainRefusals(result, contract, DIRECT_NAME_KINDS);
  return below(`${TEMPLATE}/result`, found).map((problem) => ({
    ...problem,
    message: `The outputSchema refuses every result of the template: ${problem.message}`,
  }));
}
