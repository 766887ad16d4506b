import type { JsonObject } from '@orrery/sdk';
import type { ObjectField } from './fields.js';
import { isObject } from './json.js';
import { fieldOfSchema } from './json-schema-fields.js';
import { membersOfMap } from './short-map-fields.js';

/** How the input of an event is entered. `json`: no form can show it, for the reason given. */
export type InputForm =
  | { readonly kind: 'form'; readonly root: ObjectField }
  | { readonly kind: 'json'; readonly reason: string };

/** The form of an `inputSchema` in either of its two notations (docs/schemas.md). */
export function formOf(inputSchema: JsonObject | null): InputForm {
  if (inputSchema === null) return { kind: 'json', reason: 'This event takes any input.' };
  const root = isJsonSchema(inputSchema)
    ? fieldOfSchema(inputSchema)
    : ({ kind: 'object', members: membersOfMap(inputSchema) } as const);
  if (root.kind === 'object') return { kind: 'form', root };
  return { kind: 'json', reason: 'No form can show all inputs that this event takes.' };
}

/** The service tells the two notations apart by the same rule. */
const isJsonSchema = (schema: JsonObject): boolean =>
  Object.hasOwn(schema, '$schema') || (schema['type'] === 'object' && isObject(schema['properties']));
