export {
  applyDefaults,
  checkAttributeDefinition,
  checkAttributeDefinitions,
  checkState,
  compileEntitySchema,
  findCostlyPatterns,
} from './attributes/attribute.js';
export { functionNames } from './cel/functions/table.js';
export { keepReadOrder, numberToText } from './cel/values/cel-value.js';
export {
  CONDITION_NAMES,
  type Condition,
  compileCondition,
  SEARCH_NAMES,
  satisfies,
} from './conditions/condition.js';
export {
  compareInOrder,
  compareOrderValues,
  MAX_ORDER_KEYS,
  ORDERED_CHARACTERS,
  type OrderKey,
  type OrderValue,
  orderValue,
  orderValues,
  parseOrder,
  valueAt,
} from './conditions/order.js';
export type { Comparison, TestForm, TestOperand, TextTest } from './conditions/test-form.js';
export { countDue, latestDue, nextDue } from './cron/due-times.js';
export { type CronSchedule, checkCronSchedule, describeSchedule } from './cron/schedule.js';
export { Draws, MAX_DRAWS } from './draws/draws.js';
export { COMPARISONS, type Comparisons, comparable } from './messages/comparisons.js';
export {
  type AttributeNames,
  findBracesInKeys,
  findDottedNames,
  findKeysWithoutSchema,
  findLiteralReferences,
  findLiteralValues,
  findMisspeltAttributes,
  findUnfitLiterals,
  findWrongOperands,
  MAX_COMPARED,
} from './mistakes/find-change-mistakes.js';
export {
  findCertainRefusals,
  findContractMistakes,
  findNestedTypes,
} from './mistakes/find-contract-mistakes.js';
export {
  type AttributeText,
  findUnknownAttributes,
  type SearchedSchema,
} from './mistakes/find-unknown-attributes.js';
export {
  findUndeclaredInputs,
  findUnreadEntities,
  findUnreadHistory,
  templateReferences,
} from './mistakes/template-references.js';
export { changedSchemas, changesIn, findBrokenChanges } from './mutations/changes-in-template.js';
export {
  type ChangeKey,
  isDeletion,
  parseMutation,
  readOperator,
  resolveOperator,
  resultOf,
  splitChangeKey,
} from './mutations/mutation.js';
export type { Pattern, PatternWork } from './patterns/pattern.js';
export { type CompiledContract, compileContract, toJsonSchema } from './schemas/compile-contract.js';
export { coverWork, undeclaredStep } from './schemas/covers-path.js';
export { checkAgainst } from './schemas/keywords/validation.js';
export { compileTemplate, isRefusedForm } from './templates/compile-template.js';
export {
  type CompiledTemplate,
  type Evaluation,
  evaluateTemplate,
  failureDetail,
  type TemplateFailure,
} from './templates/evaluate-template.js';
export { isPlaceholder } from './templates/find-placeholders.js';
export {
  CRON_NAME_KINDS,
  CRON_TEMPLATE_NAMES,
  DIRECT_NAME_KINDS,
  DIRECT_TEMPLATE_NAMES,
  FOLLOW_UP_NAMES,
} from './templates/template-names.js';
