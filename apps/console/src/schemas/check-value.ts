import type { Attribute } from '../api/records.js';
import { numberIn } from '../ui/typed-text.js';

export type AttributeRules = Pick<Attribute, 'type' | 'constraints'>;

/** Longer texts are not tried: the pattern runs in the page. */
const MAX_TRIED = 500;

/**
 * Why a value breaks the rules of an attribute, in words; undefined where it satisfies them. Undefined stands for an
 * absent value. It tells what docs/schemas.md says; the service decides.
 */
export function whyWrong(value: unknown, { type, constraints }: AttributeRules): string | undefined {
  if (value === undefined || value === null)
    return constraints?.required === true ? 'is required' : undefined;
  return wrongType(value, type) ?? outOfRange(value, constraints) ?? wrongText(value, constraints);
}

function wrongType(value: unknown, type: Attribute['type']): string | undefined {
  switch (type) {
    case 'json':
      return undefined;
    case 'integer':
      return Number.isSafeInteger(value) ? undefined : 'is no whole number';
    case 'float':
      return Number.isFinite(value) ? undefined : 'is no number';
    case 'string':
    case 'boolean':
      return typeof value === type ? undefined : `is no ${type}`;
    default:
      return type satisfies never;
  }
}

function outOfRange(value: unknown, constraints: Attribute['constraints']): string | undefined {
  if (typeof value !== 'number') return undefined;
  const { min, max } = constraints ?? {};
  if (min !== undefined && value < min) return `is below ${min}`;
  return max !== undefined && value > max ? `is above ${max}` : undefined;
}

function wrongText(value: unknown, constraints: Attribute['constraints']): string | undefined {
  if (typeof value !== 'string') return undefined;
  const { enum: words, pattern } = constraints ?? {};
  if (words !== undefined && !words.includes(value)) return `is none of ${words.join(', ')}`;
  if (pattern === undefined) return undefined;
  if (value.length > MAX_TRIED) return 'is too long to be tried here';
  return patternOf(pattern)?.test(value) === false ? `does not match ${pattern}` : undefined;
}

function patternOf(pattern: string): RegExp | undefined {
  try {
    return new RegExp(pattern, 'u');
  } catch {
    return undefined;
  }
}

export interface Sample {
  /** As JSON, or `absent`. */
  readonly shown: string;
  readonly wrong: string | undefined;
}

/** Values at the edges of the rules, each with what becomes of it. */
export function samplesOf(rules: AttributeRules): Sample[] {
  const values = [undefined, ...EDGES[rules.type](rules.constraints ?? {})];
  const shown = values.map((value) => (value === undefined ? 'absent' : JSON.stringify(value)));
  return values
    .map((value, index) => ({ shown: shown[index] ?? '', wrong: whyWrong(value, rules) }))
    .filter((_sample, index) => shown.indexOf(shown[index] ?? '') === index);
}

type Constraints = NonNullable<Attribute['constraints']>;

const EDGES: Record<Attribute['type'], (constraints: Constraints) => unknown[]> = {
  integer: (constraints) => [...numbersAround(constraints, 1), 1.5, '1'],
  float: (constraints) => [...numbersAround(constraints, 0.5), '1'],
  string: ({ enum: words }) => [...(words?.slice(0, 3) ?? []), '', 'anything', 1],
  boolean: () => [true, false, 'true'],
  json: () => [{ any: ['value'] }, 1],
};

function numbersAround({ min, max }: Constraints, step: number): number[] {
  const low = min === undefined ? [-1] : [min - step, min];
  const high = max === undefined ? [1_000_000] : [max, max + step];
  return [...low, ...high];
}

/** Whether what was typed stands for no value of any kind: text that is no JSON, or no number. */
export function isUnreadable(text: string, type: Attribute['type']): boolean {
  try {
    return Number.isNaN(readTyped(text, type));
  } catch {
    return true;
  }
}

/** What was typed as a value of the type; undefined for nothing, `NaN` for no number. @throws SyntaxError for no JSON */
export function readTyped(text: string, type: Attribute['type']): unknown {
  if (text === '') return undefined;
  if (type === 'integer' || type === 'float') return numberIn(text) ?? Number.NaN;
  return type === 'string' ? text : JSON.parse(text);
}
