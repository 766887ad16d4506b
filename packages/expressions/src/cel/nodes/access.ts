import type { CompileContext } from '../compile-context.js';
import { type Expression, fail } from '../frame.js';
import { type CelValue, isMap, isNumber, wordFor } from '../values/cel-value.js';
import { keyToText } from '../values/value-to-text.js';
import type { NodeOf } from './binary.js';

/** `a.b` */
export function compileMember(node: NodeOf<'.'>, context: CompileContext): Expression {
  const [target, key] = node.args;
  const read = context.compile(target, context);
  return (frame) => memberOf(read(frame), key);
}

/** `a["b"]`, `a[0]` */
export function compileIndex(node: NodeOf<'[]'>, context: CompileContext): Expression {
  const target = context.compile(node.args[0], context);
  const index = context.compile(node.args[1], context);
  return (frame) => elementOf(target(frame), index(frame));
}

/** Own properties only, so that no prototype can be reached. A missing key is a failure: `has()` guards. */
function memberOf(target: CelValue, key: string): CelValue {
  if (!isMap(target)) return fail(`cannot read "${shown(key)}" of ${wordFor(target)}`);
  const value = Object.hasOwn(target, key) ? target[key] : undefined;
  return value === undefined ? fail(`there is no "${shown(key)}"`) : value;
}

function elementOf(target: CelValue, index: CelValue): CelValue {
  if (!Array.isArray(target)) return memberOf(target, isMap(target) ? keyToText(index) : shownIndex(index));
  if (!isNumber(index) || !Number.isInteger(Number(index)))
    return fail('a list is indexed by a whole number');
  const element = target[Number(index)];
  return element === undefined ? fail(`the list of ${target.length} has no element ${index}`) : element;
}

const shown = (key: string): string => (key.length > 80 ? `${key.slice(0, 80)}…` : key);
const shownIndex = (index: CelValue): string =>
  typeof index === 'string' || isNumber(index) ? keyToText(index) : 'an element';
