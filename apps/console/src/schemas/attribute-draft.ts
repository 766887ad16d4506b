import type { Attribute } from '../api/records.js';
import { listOf, numberIn } from '../ui/typed-text.js';
import { readTyped } from './check-value.js';

/** An attribute as it is typed, as it begins. */
export const EMPTY = {
  name: '',
  type: 'integer' as Attribute['type'],
  min: '',
  max: '',
  /** Separated by commas. */
  enum: '',
  pattern: '',
  required: false,
  /** Empty: none. Of `string` the text itself, of the others JSON. */
  defaultValue: '',
};
export type AttributeDraft = Readonly<typeof EMPTY>;

export function draftOf({ name, type, constraints, defaultValue }: Attribute): AttributeDraft {
  const { min, max, enum: words, pattern, required } = constraints ?? {};
  const text =
    typeof defaultValue === 'string' && type === 'string' ? defaultValue : JSON.stringify(defaultValue);
  return {
    name,
    type,
    min: min === undefined ? '' : String(min),
    max: max === undefined ? '' : String(max),
    enum: words?.join(', ') ?? '',
    pattern: pattern ?? '',
    required: required ?? false,
    defaultValue: defaultValue === null || defaultValue === undefined ? '' : text,
  };
}

/**
 * The rules that were typed, as the API takes them: only those that fit the type, and bounds that can be read. Null: none.
 */
export function constraintsOf(draft: AttributeDraft): Attribute['constraints'] {
  const isNumber = draft.type === 'integer' || draft.type === 'float';
  const words = listOf(draft.enum);
  const min = isNumber ? numberIn(draft.min) : undefined;
  const max = isNumber ? numberIn(draft.max) : undefined;
  const constraints = {
    ...(min !== undefined && { min }),
    ...(max !== undefined && { max }),
    ...(draft.type === 'string' && words.length > 0 && { enum: words }),
    ...(draft.type === 'string' && draft.pattern !== '' && { pattern: draft.pattern }),
    ...(draft.required && { required: true }),
  };
  return Object.keys(constraints).length === 0 ? null : constraints;
}

/** The body of its creation or change. No form is sent with a default or a bound that cannot be read. */
export const bodyOf = (draft: AttributeDraft) => ({
  name: draft.name.trim(),
  type: draft.type,
  constraints: constraintsOf(draft),
  defaultValue: (readTyped(draft.defaultValue, draft.type) ?? null) as Attribute['defaultValue'],
});
