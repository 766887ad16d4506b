import {
  type AttributeConstraints,
  type AttributeType,
  type FieldProblem,
  fieldProblem,
} from '@orrery/contracts';
import { compilePattern, PATTERN_WORK } from '../patterns/pattern.js';
import { foundText } from '../schemas/keywords/validation.js';
import { type AttributeShape, compileAttribute } from './attribute.js';

/** The constraints that fit some types only, and the types that they fit. */
const SPECIAL = ['min', 'max', 'enum', 'pattern'] as const;
const FITTING: Readonly<Record<AttributeType, readonly (typeof SPECIAL)[number][]>> = {
  integer: ['min', 'max'],
  float: ['min', 'max'],
  string: ['enum', 'pattern'],
  boolean: [],
  json: [],
};

/**
 * What contradicts itself in an attribute (docs/schemas.md): a constraint on a type that it does not fit, bounds that leave
 * no value, a pattern that cannot be read, a default that breaks the constraints. Pointers are into the attribute.
 */
export function checkAttributeDefinition(attribute: AttributeShape): FieldProblem[] {
  const constraints = attribute.constraints ?? {};
  const problems = [
    ...misplacedConstraints(attribute.type, constraints),
    ...boundsProblems(attribute.type, constraints),
    ...textProblems(constraints),
  ];
  return problems.length > 0 ? problems : defaultProblems(attribute);
}

function misplacedConstraints(
  type: AttributeShape['type'],
  constraints: AttributeConstraints,
): FieldProblem[] {
  return SPECIAL.filter((name) => constraints[name] !== undefined && !FITTING[type].includes(name)).map(
    (name) =>
      contradiction(`/constraints/${name}`, `The constraint "${name}" does not fit the type ${type}.`),
  );
}

function boundsProblems(type: AttributeShape['type'], { min, max }: AttributeConstraints): FieldProblem[] {
  if (min === undefined || max === undefined) return [];
  if (min > max) return [contradiction('/constraints/min', 'The constraint "min" is greater than "max".')];
  const isEmpty = type === 'integer' && Math.ceil(min) > Math.floor(max);
  return isEmpty ? [contradiction('/constraints/min', 'No whole number lies between "min" and "max".')] : [];
}

function textProblems({ enum: allowed, pattern }: AttributeConstraints): FieldProblem[] {
  if (allowed?.length === 0)
    return [contradiction('/constraints/enum', 'The enum must have at least one value.')];
  if (pattern === undefined) return [];
  const compiled = compilePattern(pattern);
  if (!compiled.ok) return [fieldProblem('/constraints/pattern', 'invalid_pattern', compiled.reason)];
  if (allowed === undefined || allowed.some((text) => compiled.pattern.test(text))) return [];
  return [contradiction('/constraints/pattern', 'No value of the enum matches the pattern.')];
}

function defaultProblems(attribute: AttributeShape): FieldProblem[] {
  const value = attribute.defaultValue ?? null;
  const problem =
    value === null ? undefined : compileAttribute(attribute).check(value, { left: PATTERN_WORK });
  return problem === undefined
    ? []
    : [contradiction('/defaultValue', `The default ${problem.message}${foundText(value, true)}`)];
}

const contradiction = (pointer: string, message: string): FieldProblem =>
  fieldProblem(pointer, 'contradictory_attribute', message);
