export { checkAttributeDefinition } from './attributes/check-attribute.js';
export { applyDefaults, checkState, compileEntitySchema } from './attributes/entity-schema.js';
export { countDue, latestDue, nextDue } from './cron/due-times.js';
export { type CronSchedule, checkCronSchedule, describeSchedule } from './cron/schedule.js';
export {
  type AttributeNames,
  findMisspeltAttributes,
  findUnfitLiterals,
  findWrongOperands,
} from './mistakes/find-attribute-mistakes.js';
export { findCertainRefusals } from './mistakes/find-certain-refusals.js';
export { findContractMistakes, findNestedTypes } from './mistakes/find-contract-mistakes.js';
export {
  findBracesInKeys,
  findDottedNames,
  findKeysWithoutSchema,
  findLiteralReferences,
  findLiteralValues,
} from './mistakes/find-literal-placeholders.js';
export { findUndeclaredInputs, findUnreadEntities } from './mistakes/find-unreadable.js';
export { templateReferences } from './mistakes/template-references.js';
export { changedSchemas, changesIn, findBrokenChanges } from './mutations/changes-in-template.js';
export {
  type ChangeKey,
  isDeletion,
  parseMutation,
  readOperator,
  resultOf,
  splitChangeKey,
} from './mutations/mutation.js';
export { resolveOperator } from './mutations/resolve-operator.js';
export type { Pattern, PatternWork } from './patterns/pattern.js';
export { type PathWork, pathWork, readPath } from './read-paths/read-path.js';
export { type CompiledContract, compileContract, toJsonSchema } from './schemas/compile-contract.js';
export { undeclaredStep } from './schemas/covers-path.js';
export { checkAgainst } from './schemas/keywords/validation.js';
export { compileTemplate } from './templates/compile-template.js';
export { type CompiledTemplate, evaluateTemplate, failureDetail } from './templates/evaluate-template.js';
export { isPlaceholder } from './templates/find-placeholders.js';
export {
  CRON_NAME_KINDS,
  CRON_TEMPLATE_NAMES,
  DIRECT_NAME_KINDS,
  DIRECT_TEMPLATE_NAMES,
} from './templates/template-names.js';
