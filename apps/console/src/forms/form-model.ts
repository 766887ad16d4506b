import type { JsonObject } from '@orrery/sdk';
import type { Field, Member, ObjectField } from './fields.js';
import { isObject } from './json.js';
import { fieldOfSchema } from './json-schema-fields.js';

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

const TYPE = /^(\w+?)((?:\[\])*)(\?)?$/;

/** The members of a short map such as `{ "raceId": "string", "laps": "integer?", "tags": "string[]" }`. */
const membersOfMap = (map: JsonObject): Member[] =>
  Object.entries(map).map(([name, type]) => {
    if (isObject(type))
      return { name, isRequired: true, field: { kind: 'object', members: membersOfMap(type) } };
    const [, word = '', lists = '', optional] = TYPE.exec(String(type)) ?? [];
    const field = Array.from({ length: lists.length / 2 }).reduce<Field>(
      (item) => ({ kind: 'list', item }),
      fieldOfType(word),
    );
    return { name, isRequired: optional === undefined, field };
  });

function fieldOfType(word: string): Field {
  switch (word) {
    case 'string':
      return { kind: 'text', isLong: false };
    case 'integer':
      return { kind: 'number', isWhole: true };
    case 'float':
    case 'number':
      return { kind: 'number', isWhole: false };
    case 'boolean':
      return { kind: 'boolean' };
    case 'object':
      return { kind: 'json', hint: 'an object' };
    case 'array':
      return { kind: 'json', hint: 'a list' };
    default:
      return { kind: 'json' };
  }
}
