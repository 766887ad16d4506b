import type {
  AttributeDefinition,
  AttributeRecord,
  CreateAttributeBody,
  UpdateAttributeBody,
} from '@orrery/contracts';
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

/** Absent stays, constraints are replaced whole, null removes (decisions §3). */
export const changedBy = (
  current: AttributeDefinition,
  { name, type, constraints, defaultValue }: UpdateAttributeBody,
): AttributeDefinition => ({
  name: name ?? current.name,
  type: type ?? current.type,
  constraints: constraints === undefined ? current.constraints : constraints,
  defaultValue: defaultValue === undefined ? current.defaultValue : defaultValue,
});
