import {
  type AttributeDefinition,
  type AttributeRecord,
  type CreateAttributeBody,
  type FieldProblem,
  ServiceError,
  type UpdateAttributeBody,
} from '@orrery/contracts';
import { checkAttributeDefinition } from '@orrery/expressions';
import type { AttributeRow } from '../database/schema.js';

export const toAttributeRecord = (row: AttributeRow): AttributeRecord => ({
  id: row.id,
  ...toAttributeDefinition(row),
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});

export const toAttributeDefinition = (
  row: Pick<AttributeRow, 'name' | 'type' | 'constraints' | 'default_value'>,
): AttributeDefinition => ({
  name: row.name,
  type: row.type,
  constraints: row.constraints,
  defaultValue: row.default_value,
});

/** An attribute as sent on creation; absent and null mean none. */
export const definedBy = (body: CreateAttributeBody): AttributeDefinition => ({
  name: body.name,
  type: body.type,
  constraints: body.constraints ?? null,
  defaultValue: body.defaultValue ?? null,
});

/** Absent members stay, constraints are replaced as a whole, null removes (docs/catalog.md). */
export const changedBy = (
  current: AttributeDefinition,
  { name, type, constraints, defaultValue }: UpdateAttributeBody,
): AttributeDefinition => ({
  name: name ?? current.name,
  type: type ?? current.type,
  constraints: constraints === undefined ? current.constraints : constraints,
  defaultValue: defaultValue === undefined ? current.defaultValue : defaultValue,
});

/**
 * Refuses an inconsistent attribute: a default that violates its own constraints, min above max, an invalid pattern, a
 * constraint of another type.
 *
 * @throws ServiceError `validation_failed` with pointers below `pointer`.
 */
export function checkAttribute(definition: AttributeDefinition, pointer = ''): void {
  refuse(problemsBelow(pointer, definition));
}

/** Checks the attributes of a new schema; a duplicate name is `attribute_exists`. */
export function checkAttributes(definitions: readonly AttributeDefinition[]): void {
  refuse(definitions.flatMap((definition, index) => problemsBelow(`/attributes/${index}`, definition)));
  const seen = new Set<string>();
  for (const [index, { name }] of definitions.entries()) {
    if (seen.has(name)) throw duplicate(name, `/attributes/${index}/name`);
    seen.add(name);
  }
}

const problemsBelow = (pointer: string, definition: AttributeDefinition): FieldProblem[] =>
  checkAttributeDefinition(definition).map((problem) => ({
    ...problem,
    pointer: `${pointer}${problem.pointer}`,
  }));

function refuse(errors: FieldProblem[]): void {
  const [first] = errors;
  if (first === undefined) return;
  throw new ServiceError('validation_failed', `${first.pointer}: ${first.message}`, { errors });
}

function duplicate(name: string, pointer: string): ServiceError {
  const message = `The attribute "${name}" appears twice.`;
  return new ServiceError('attribute_exists', message, {
    errors: [{ pointer, code: 'attribute_exists', message }],
  });
}
