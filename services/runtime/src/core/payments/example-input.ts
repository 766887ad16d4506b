import { isJsonObject, type JsonObject, type JsonValue } from '@orrery/contracts';

/** Levels of a contract that an example goes down. */
const MOST_LEVELS = 8;

/**
 * A value that JSON Schema allows, as far as its simple keywords tell: what it takes by `const`, `enum`, `default` or `examples`,
 * else the smallest of its type with all that is required. It may break the other keywords, so it is to be checked.
 */
export function exampleOf(schema: JsonValue | undefined, level = 0): JsonValue {
  if (!isJsonObject(schema) || level > MOST_LEVELS) return {};
  const [named] = [schema['examples'], schema['enum']].flatMap((list) => (Array.isArray(list) ? list : []));
  const given = schema['const'] ?? schema['default'] ?? named;
  if (given !== undefined) return given;
  const type = Array.isArray(schema['type']) ? schema['type'][0] : schema['type'];
  switch (type) {
    case 'integer':
    case 'number':
      return numberOf(schema);
    case 'string':
      return textOf(schema);
    case 'boolean':
      return true;
    case 'null':
      return null;
    case 'array':
      return Array.from({ length: Math.min(10, sizeOf(schema['minItems'])) }, () =>
        exampleOf(schema['items'], level + 1),
      );
    default:
      return objectOf(schema, level);
  }
}

const sizeOf = (value: JsonValue | undefined): number => (typeof value === 'number' ? value : 0);

function numberOf({ minimum, exclusiveMinimum, maximum }: JsonObject): number {
  if (typeof exclusiveMinimum === 'number') return Math.floor(exclusiveMinimum) + 1;
  const low = typeof minimum === 'number' ? Math.ceil(minimum) : 1;
  return typeof maximum === 'number' ? Math.min(Math.max(low, 1), maximum) : Math.max(low, 1);
}

const textOf = ({ minLength, maxLength }: JsonObject): string =>
  'text'
    .padEnd(Math.min(200, sizeOf(minLength)), '-')
    .slice(0, typeof maxLength === 'number' ? maxLength : 200);

function objectOf({ properties, required }: JsonObject, level: number): JsonObject {
  const names = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
  const known = isJsonObject(properties) ? properties : {};
  return Object.fromEntries(names.map((name) => [name, exampleOf(known[name], level + 1)]));
}
