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
  // A key and the value at it may have the same mistake at the same place.
  const texts = new Set(
    warnings.map(({ pointer, message }) => `${pointer === '' ? '' : `${pointer}: `}${message}`),
  );
  const told = [...texts].slice(0, MAX_WARNINGS).map((text) => `Warning: ${text}`);
  const more = texts.size - told.length;
  const parts = [message, ...told, more > 0 ? `There are ${more} more warnings.` : undefined];
  const text = parts.filter((part) => part !== undefined).join(' ');
  return text === '' ? undefined : text;
}
