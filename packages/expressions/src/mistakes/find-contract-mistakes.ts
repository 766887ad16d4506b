import {
  childPointer,
  type FieldProblem,
  fieldProblem,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '@orrery/contracts';
import { quoted } from '../messages/error-text.js';
import { isJsonSchema } from '../schemas/short-map.js';

/**
 * What a short map says and cannot mean: `"laps?": "integer"` declares a field that is called `laps?`, and
 * `{ "type": "object" }` a field that is called `type`.
 */
export function findContractMistakes(source: JsonObject): FieldProblem[] {
  if (isJsonSchema(source)) return [];
  return isBareObject(source) ? [BARE_OBJECT] : questionMarks(source, '');
}

const isBareObject = (source: JsonObject): boolean =>
  source['type'] === 'object' && Object.keys(source).length === 1;

const BARE_OBJECT = fieldProblem(
  '',
  'invalid_schema',
  'This is a short map with one field that is called "type". For an object without fields write {}; for a JSON Schema ' +
    'add "properties": { "type": "object", "properties": { … } }; for any object leave the contract out.',
);

const questionMarks = (map: JsonObject, pointer: string): FieldProblem[] =>
  Object.entries(map).flatMap(([name, field]) => {
    const at = childPointer(pointer, name);
    const own = name.endsWith('?') ? [fieldProblem(at, 'invalid_schema', markMessage(name, field))] : [];
    return [...own, ...(isJsonObject(field) ? questionMarks(field, at) : [])];
  });

function markMessage(name: string, field: JsonValue): string {
  const spelling =
    typeof field === 'string'
      ? `"${quoted(name.slice(0, -1))}": "${quoted(field.replace(/\?$/, ''))}?"`
      : undefined;
  const advice = spelling ?? 'a nested map cannot be optional; JSON Schema can say this';
  return `The "?" of an optional field stands behind its type: ${advice}.`;
}

/**
 * Nested maps whose only field is called `type`: JSON Schema's way to write a type, which in a short map declares a field
 * of this name. It may be meant, so these are warnings.
 */
export const findNestedTypes = (source: JsonObject): FieldProblem[] =>
  isJsonSchema(source) ? [] : nestedTypes(source, '');

const nestedTypes = (map: JsonObject, pointer: string): FieldProblem[] =>
  Object.entries(map).flatMap(([name, field]) => {
    if (!isJsonObject(field)) return [];
    const at = childPointer(pointer, name);
    const { type } = field;
    if (typeof type !== 'string' || Object.keys(field).length > 1) return nestedTypes(field, at);
    const message = `This is a nested map with one field that is called "type". For a field of this type write "${quoted(name)}": "${quoted(type)}".`;
    return [fieldProblem(at, 'nested_type', message)];
  });
