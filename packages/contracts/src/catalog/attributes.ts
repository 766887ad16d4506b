import { z } from 'zod';
import { jsonValue } from '../json/json-schemas.js';
import { timestamp } from '../records/text.js';

export const attributeType = z.enum(['integer', 'float', 'string', 'boolean', 'json']);
export type AttributeType = z.infer<typeof attributeType>;

/** `min`/`max` bound numbers, `enum`/`pattern` strings; `required` = present and not null after defaults. */
export const attributeConstraints = z
  .strictObject({
    min: z.number().optional(),
    max: z.number().optional(),
    enum: z.array(z.string()).max(1000).optional(),
    pattern: z.string().max(1000).optional(),
    required: z.boolean().optional(),
  })
  .meta({ id: 'AttributeConstraints' });
export type AttributeConstraints = z.infer<typeof attributeConstraints>;

/** What an attribute means, without where it is stored: the part that hashes and checks are taken over. */
export const attributeDefinition = z.strictObject({
  name: z.string(),
  type: attributeType,
  constraints: attributeConstraints.nullable(),
  defaultValue: jsonValue.nullable(),
});
export type AttributeDefinition = z.infer<typeof attributeDefinition>;

export const attributeRecord = z
  .strictObject({ id: z.int(), ...attributeDefinition.shape, createdAt: timestamp, updatedAt: timestamp })
  .meta({ id: 'Attribute' });
