import type { JsonObject } from '@orrery/sdk';
import type { Field, Member } from './fields.js';
import { isObject } from './json.js';

const TYPE = /^(\w+?)((?:\[\])*)(\?)?$/;

/** The members of a short map such as `{ "raceId": "string", "laps": "integer?", "tags": "string[]" }`. */
export const membersOfMap = (map: JsonObject): Member[] =>
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
