import type { JsonObject } from '@orrery/sdk';
import type { Attribute } from '../api/records.js';
import type { ObjectField } from '../forms/fields.js';
import { fieldOfSchema } from '../forms/json-schema-fields.js';

/** The form of an instance's state: a control for each attribute, which begins with its default. */
export const formOfState = (attributes: readonly Attribute[]): ObjectField => ({
  kind: 'object',
  members: attributes.map((attribute) => ({
    name: attribute.name,
    isRequired: isNeeded(attribute),
    field: fieldOfSchema(valueSchema(attribute)),
  })),
});

/** The service fills in defaults before it looks for required attributes. */
const isNeeded = ({ constraints, defaultValue }: Attribute): boolean =>
  constraints?.required === true && defaultValue === null;

const TYPES = {
  integer: { type: 'integer' },
  float: { type: 'number' },
  string: { type: 'string' },
  boolean: { type: 'boolean' },
  json: {},
} as const satisfies Record<Attribute['type'], JsonObject>;

function valueSchema({ type, constraints, defaultValue }: Attribute): JsonObject {
  const { min, max, enum: words, pattern } = constraints ?? {};
  return {
    ...TYPES[type],
    ...(min !== undefined && { minimum: min }),
    ...(max !== undefined && { maximum: max }),
    ...(words !== undefined && { enum: words }),
    ...(pattern !== undefined && { pattern }),
    ...(defaultValue !== null && { default: defaultValue }),
  };
}
