import type { AttributeConstraints, CreateAttributeBody, JsonValue } from '@orrery/contracts';
import { compilePattern, type PatternWork, testWithin } from '../patterns/pattern.js';

/** An attribute's definition, whatever record carries it. Null and absent mean the same. */
export type AttributeShape = CreateAttributeBody;

/** Why a value does not fit. The message follows a subject ("The attribute …") and gets its full stop there. */
interface Misfit {
  readonly code: 'wrong_type' | 'out_of_range' | 'not_allowed' | 'pattern_mismatch' | 'too_complex';
  readonly message: string;
}

/** Patterns are charged to the work of the whole check. */
type Check = (value: JsonValue, work: PatternWork) => Misfit | undefined;

/** An attribute ready to check values that are not null. */
export interface CompiledAttribute {
  readonly name: string;
  readonly required: boolean;
  /** Null: there is none. */
  readonly defaultValue: JsonValue;
  readonly check: Check;
}

/** A pattern that cannot be read matches nothing; definitions with one are refused when they are saved. */
export function compileAttribute(attribute: AttributeShape): CompiledAttribute {
  const constraints = attribute.constraints ?? {};
  return {
    name: attribute.name,
    required: constraints.required === true,
    defaultValue: frozen(structuredClone(attribute.defaultValue ?? null)),
    check: checksOf[attribute.type](constraints),
  };
}

function frozen(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  for (const part of Object.values(value)) frozen(part);
  Object.freeze(value);
  return value;
}

const wrongType = (expected: string): Misfit => ({ code: 'wrong_type', message: `must be ${expected}` });

const checksOf: Readonly<Record<AttributeShape['type'], (constraints: AttributeConstraints) => Check>> = {
  integer: (constraints) => numberCheck(Number.isSafeInteger, wrongType('a whole number'), constraints),
  float: (constraints) => numberCheck(Number.isFinite, wrongType('a finite number'), constraints),
  string: textCheck,
  boolean: () => (value) => (typeof value === 'boolean' ? undefined : wrongType('true or false')),
  json: () => () => undefined,
};

function numberCheck(
  isNumber: (value: unknown) => boolean,
  misfit: Misfit,
  { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY }: AttributeConstraints,
): Check {
  const tooSmall: Misfit = { code: 'out_of_range', message: `must be at least ${min}` };
  const tooLarge: Misfit = { code: 'out_of_range', message: `must be at most ${max}` };
  return (value) => {
    if (typeof value !== 'number' || !isNumber(value)) return misfit;
    if (value < min) return tooSmall;
    return value > max ? tooLarge : undefined;
  };
}

function textCheck({ enum: allowed, pattern }: AttributeConstraints): Check {
  const misfit = wrongType('text');
  const known = allowed && new Set(allowed);
  const notAllowed: Misfit = { code: 'not_allowed', message: `must be one of ${listed(allowed ?? [])}` };
  const matches = pattern === undefined ? () => true : matcher(pattern);
  const mismatch: Misfit = { code: 'pattern_mismatch', message: `must match the pattern ${pattern}` };
  return (value, work) => {
    if (typeof value !== 'string') return misfit;
    if (known !== undefined && !known.has(value)) return notAllowed;
    const outcome = matches(value, work);
    if (outcome === undefined) return TOO_COMPLEX;
    return outcome ? undefined : mismatch;
  };
}

const TOO_COMPLEX: Misfit = { code: 'too_complex', message: 'takes too long to check against its pattern' };

function matcher(source: string): (text: string, work: PatternWork) => boolean | undefined {
  const compiled = compilePattern(source);
  if (!compiled.ok) return () => false;
  return (text, work) => testWithin(compiled.pattern, text, work);
}

const listed = (allowed: readonly string[]): string =>
  allowed.slice(0, 10).join(', ') + (allowed.length > 10 ? ', …' : '');
