import type { FieldProblem } from './field-problem.js';

/** More than these are only counted. */
const MAX_WARNINGS = 5;

/**
 * What a success says in its `message` about likely mistakes that are allowed, after what else it has to say: `Warning:
 * <pointer>: <text>` for each. Undefined where there is nothing to say.
 */
export function withWarnings(
  warnings: readonly FieldProblem[],
  message?: string | undefined,
): string | undefined {
  const told = warnings
    .slice(0, MAX_WARNINGS)
    .map(({ pointer, message }) => `Warning: ${pointer === '' ? '' : `${pointer}: `}${message}`);
  const more = warnings.length - told.length;
  const parts = [message, ...told, more > 0 ? `There are ${more} more warnings.` : undefined];
  const text = parts.filter((part) => part !== undefined).join(' ');
  return text === '' ? undefined : text;
}
