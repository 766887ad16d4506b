export { checkAttributeDefinition } from './attributes/check-attribute.js';
export {
  applyDefaults,
  type CompiledEntitySchema,
  checkState,
  compileEntitySchema,
} from './attributes/entity-schema.js';
export { type CronProblem, type CronSchedule, checkCronSchedule } from './cron/check-cron-schedule.js';
export { describeSchedule } from './cron/describe-schedule.js';
export { countDue, type DueSpan, latestDue, nextDue } from './cron/due-times.js';
export {
  CRON_NAME_KINDS,
  DIRECT_NAME_KINDS,
  findCertainRefusals,
} from './mistakes/find-certain-refusals.js';
export { findContractMistakes, findNestedTypes } from './mistakes/find-contract-mistakes.js';
export {
  findBracesInKeys,
  findDottedNames,
  findKeysWithoutSchema,
  findLiteralReferences,
  findLiteralValues,
} from './mistakes/find-literal-placeholders.js';
export { type AttributeNames, findMisspeltAttributes } from './mistakes/find-misspelt-attributes.js';
export { findUnfitLiterals } from './mistakes/find-unfit-literals.js';
export { findUndeclaredInputs, findUnreadEntities } from './mistakes/find-unreadable.js';
export { findWrongOperands, isPlaceholder } from './mistakes/find-wrong-operands.js';
export { type TemplateReference, templateReferences } from './mistakes/template-references.js';
export { changedSchemas, changesIn, type TemplateChange } from './mutations/changed-schemas.js';
export { findBrokenChanges } from './mutations/find-broken-changes.js';
export { findUnknownOperators } from './mutations/find-unknown-operators.js';
export {
  type ChangeKey,
  isDeletion,
  type Mutation,
  type MutationResult,
  type Operator,
  parseMutation,
  readOperator,
  resultOf,
  splitChangeKey,
} from './mutations/mutation.js';
export { type OperatorOutcome, resolveOperator } from './mutations/resolve-operator.js';
export {
  compilePattern,
  MAX_PATTERN_LENGTH,
  type Pattern,
  type PatternResult,
  type PatternWork,
} from './patterns/pattern.js';
export { type PathResult, type PathWork, pathWork, readPath } from './read-paths/read-path.js';
export {
  type CompiledContract,
  type ContractResult,
  compileContract,
  toJsonSchema,
} from './schemas/compile-contract.js';
export { undeclaredStep } from './schemas/covers-path.js';
export { checkAgainst } from './schemas/keywords/validation.js';
export { compileTemplate, type TemplateOptions, type TemplateResult } from './templates/compile-template.js';
export {
  type CompiledTemplate,
  type EvaluationResult,
  evaluateTemplate,
  failureDetail,
  type TemplateFailure,
} from './templates/evaluate-template.js';
export { EVALUATION_LIMITS, type EvaluationLimits } from './templates/template-limits.js';
export { CRON_TEMPLATE_NAMES, DIRECT_TEMPLATE_NAMES } from './templates/template-names.js';
