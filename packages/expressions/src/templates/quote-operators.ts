import { isJsonObject, type JsonObject, type JsonValue } from '@orrery/contracts';
import { fail } from '../cel/frame.js';
import type { Position } from '../operators/positions.js';
import type { TemplateNode } from './template-node.js';

/**
 * Data that a placeholder brings into a mutation stays data. An object with `$…` keys is set as it is, through `$set`;
 * without this a caller whose input is copied into an attribute could send `{ "$increment": 1000 }`.
 */
export function quoteOperators(node: TemplateNode, position: Position): TemplateNode {
  if (position === 'attribute') return (run, depth) => quoteAttribute(node(run, depth));
  if (position === 'change') return (run, depth) => quoteChange(node(run, depth));
  if (position === 'changes') return (run, depth) => mapValues(node(run, depth), quoteChange);
  return node;
}

const bringsOperator = (value: JsonObject): boolean => Object.keys(value).some((key) => key.startsWith('$'));

const quoteAttribute = (value: JsonValue): JsonValue =>
  isJsonObject(value) && bringsOperator(value) ? { $set: value } : value;

function quoteChange(change: JsonValue): JsonValue {
  if (isJsonObject(change) && bringsOperator(change))
    return fail('data may not bring operators into a change');
  return mapValues(change, quoteAttribute);
}

const mapValues = (value: JsonValue, write: (value: JsonValue) => JsonValue): JsonValue =>
  isJsonObject(value)
    ? Object.fromEntries(Object.entries(value).map(([key, child]) => [key, write(child)]))
    : value;
