export {
  type AttributeShape,
  checkAttributeDefinition,
} from './attributes/check-attribute.js';
export {
  applyDefaults,
  type CompiledEntitySchema,
  checkState,
  compileEntitySchema,
} from './attributes/entity-schema.js';
export { type CronProblem, type CronSchedule, checkCronSchedule } from './cron/check-cron-schedule.js';
export { type ChangeKey, splitChangeKey } from './mutations/change-key.js';
export { findBrokenChanges } from './mutations/find-broken-changes.js';
export { type Mutation, type MutationResult, parseMutation } from './mutations/parse-mutation.js';
export { findUnknownOperators } from './operators/find-unknown-operators.js';
export { isDeletion, type Operator, readOperator } from './operators/operator.js';
export { type OperatorOutcome, resolveOperator } from './operators/resolve-operator.js';
export {
  compilePattern,
  MAX_PATTERN_LENGTH,
  type Pattern,
  type PatternResult,
} from './patterns/compile-pattern.js';
export { type PathResult, readPath } from './read-paths/read-path.js';
export { checkAgainst, toJsonSchema } from './schemas/check-against.js';
export { type CompiledContract, type ContractResult, compileContract } from './schemas/compile-contract.js';
export { contractCoversPath } from './schemas/covers-path.js';
export { compileTemplate, type TemplateOptions, type TemplateResult } from './templates/compile-template.js';
export {
  type EvaluationResult,
  evaluateTemplate,
  type TemplateFailure,
} from './templates/evaluate-template.js';
export { EVALUATION_LIMITS, type EvaluationLimits } from './templates/template-limits.js';
export { CRON_TEMPLATE_NAMES, DIRECT_TEMPLATE_NAMES } from './templates/template-names.js';
export type { CompiledTemplate } from './templates/template-node.js';
