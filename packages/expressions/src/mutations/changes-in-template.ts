import {
  childPointer,
  type FieldProblem,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  MAX_PROBLEMS,
  toNfc,
} from '@orrery/contracts';
import {
  changeProblem,
  changesOf,
  DELETE_OPERATOR,
  isOperatorName,
  mapProblem,
  OPERATOR_NAMES,
  type Position,
} from './mutation.js';

/** One change that a mutation's template makes. */
interface TemplateChange {
  /** As it is written, with its placeholders. */
  readonly key: string;
  /** Into the template. */
  readonly pointer: string;
  /** The schema in NFC; undefined where a placeholder says it, or nothing does. */
  readonly schema: string | undefined;
  readonly change: JsonValue;
}

/**
 * The changes of a mutation's template. The schema is what precedes a key's first colon, unless a placeholder says it:
 * `horse:{{ input.id }}` names `horse`, `{{ input.key }}` names nothing that is known before a run.
 */
export function changesIn(template: JsonObject): TemplateChange[] {
  const { changes, base } = changesOf(template);
  if (!isJsonObject(changes)) return [];
  return Object.entries(changes).map(([key, change]) => ({
    key,
    pointer: childPointer(base, key),
    schema: schemaOf(key),
    change,
  }));
}

function schemaOf(key: string): string | undefined {
  const name = key.slice(0, Math.max(0, key.indexOf(':')));
  return name === '' || name.includes('{{') ? undefined : toNfc(name);
}

/** The schemas that the change keys of a mutation's template name, each once. */
export const changedSchemas = (template: JsonObject): string[] => [
  ...new Set(changesIn(template).flatMap(({ schema }) => schema ?? [])),
];

/** One attribute in a change. */
export interface AttributeInTemplate {
  /** Into the template. */
  readonly pointer: string;
  readonly schema: string | undefined;
  readonly name: string;
  readonly value: JsonValue;
}

/** The attributes that the changes of a mutation's template set. */
export const attributesIn = (template: JsonObject): AttributeInTemplate[] =>
  changesIn(template).flatMap(({ schema, change, pointer }) =>
    Object.entries(isJsonObject(change) ? change : {}).map(([name, value]) => ({
      pointer: childPointer(pointer, name),
      schema,
      name,
      value,
    })),
  );

/**
 * Finds what is wrong whatever the placeholders give: a change key without a placeholder that does not name a schema and an
 * instance, and a change (or the map of them) that is neither an object nor left to a placeholder.
 */
export function findBrokenChanges(template: JsonObject): FieldProblem[] {
  const { changes, base } = changesOf(template);
  const whole = mapProblem(changes, base, isOpen);
  if (whole !== undefined) return [whole];
  return changesIn(template)
    .flatMap(({ key, change, pointer }) => changeProblem(key, change, pointer, isOpen) ?? [])
    .slice(0, MAX_PROBLEMS);
}

const isOpen = (value: JsonValue): boolean => typeof value === 'string' && value.includes('{{');

const LESS = ' Write { "$increment": -1 }: a negative number takes away.';
const MEANT: ReadonlyMap<string, string> = new Map([
  ['$inc', ' Write "$increment".'],
  ['$add', ' Write "$increment".'],
  ['$decrement', LESS],
  ['$dec', LESS],
  ['$subtract', LESS],
  ['$push', ' Write "$append".'],
]);

/**
 * What is wrong with a `$…` key of a direct mutation's template: an unknown one, an operator beside other keys, or one
 * where none can stand (inside an attribute's value; `$set` alone takes any JSON).
 */
export function operatorComplaint(key: string, object: JsonObject, position: Position): string | undefined {
  if (position === 'free' || !key.startsWith('$')) return undefined;
  if (position === 'change') return complainOfChange(key, object);
  if (position !== 'attribute')
    return `The operator "${key}" is not allowed here. Operators stand in the place of an attribute.`;
  if (!isOperatorName(key))
    return `The operator "${key}" is not known.${MEANT.get(key) ?? ''} Operators are ${OPERATOR_NAMES.join(', ')}.`;
  if (Object.keys(object).length > 1) return `The operator "${key}" must be the only key of its object.`;
  return key === '$unset' && object[key] !== true ? 'Write the operator as { "$unset": true }.' : undefined;
}

function complainOfChange(key: string, change: JsonObject): string | undefined {
  if (key !== DELETE_OPERATOR)
    return `The operator "${key}" is not allowed in the place of a change. Only ${DELETE_OPERATOR} is.`;
  const isWhole = Object.keys(change).length === 1 && change[key] === true;
  return isWhole ? undefined : `Write a deletion as { "${DELETE_OPERATOR}": true }.`;
}
