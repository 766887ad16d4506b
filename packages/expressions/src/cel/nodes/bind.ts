import { type CompileContext, fault } from '../compile-context.js';
import type { Expression } from '../frame.js';
import type { NodeOf } from './binary.js';

/** `cel.bind(name, value, expression)`: names a value for use in the expression. */
export function compileBind(node: NodeOf<'rcall'>, context: CompileContext): Expression {
  const [name, value, body] = node.args[2];
  if (name?.op !== 'id' || value === undefined || body === undefined)
    return fault('template_syntax', 'cel.bind() takes a name, a value and an expression', node);
  const slot = context.locals.length;
  const bound = context.compile(value, context);
  const result = context.compile(body, { ...context, locals: [...context.locals, name.args] });
  return (frame) => {
    frame.locals[slot] = bound(frame);
    return result(frame);
  };
}
