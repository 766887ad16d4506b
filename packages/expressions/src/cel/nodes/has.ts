import { type CompileContext, fault } from '../compile-context.js';
import { type Expression, fail } from '../frame.js';
import { isMap, wordFor } from '../values/cel-value.js';
import { keyToText } from '../values/value-to-text.js';
import type { NodeOf } from './binary.js';

/**
 * `has(a.b)`: is the last key there? What comes before it must be there. Beyond CEL, `has(a["b-c"])` works too, for
 * names that are no identifiers. A key whose value is null is there.
 */
export function compileHas(node: NodeOf<'call'>, context: CompileContext): Expression {
  const [field] = node.args[1];
  if (field?.op !== '.' && field?.op !== '[]')
    return fault('template_syntax', 'has() takes a field, as in has(input.name)', node);
  const target = context.compile(field.args[0], context);
  const key = field.op === '.' ? constant(field.args[1]) : context.compile(field.args[1], context);
  return (frame) => {
    const object = target(frame);
    if (!isMap(object)) return fail(`has() looks into an object, not ${wordFor(object)}`);
    return Object.hasOwn(object, keyToText(key(frame)));
  };
}

const constant =
  (text: string): Expression =>
  () =>
    text;
