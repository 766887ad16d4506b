import type { ASTNode } from '@marcbachmann/cel-js';
import { didYouMean } from '@orrery/contracts';
import type { Native } from '../functions/native.js';
import { functionNamed, functionNames, mathFunction, methodNamed } from '../functions/table.js';
import { functionHint } from '../hints/other-languages.js';
import type { CelValue } from '../values/cel-value.js';
import type { Expression, Frame } from './compile-context.js';
import { type CompileContext, fault, type NodeOf } from './compile-context.js';
import { loopNamed } from './loops.js';
import { compileHas } from './reading.js';

/** `size(x)`, `has(x.y)` */
export function compileCall(node: NodeOf<'call'>, context: CompileContext): Expression {
  const [name, args] = node.args;
  if (name === 'has') return compileHas(node, context);
  refuseMatches(name, node);
  const native = functionNamed(name, args.length);
  return native === undefined ? unknownFunction(name, args, node) : compileNative(native, args, context);
}

/** `x.contains(y)`, `list.map(i, …)`, `math.least(…)`, `cel.bind(…)` */
export function compileMethod(node: NodeOf<'rcall'>, context: CompileContext): Expression {
  const [name, receiver, args] = node.args;
  refuseMatches(name, node);
  const space = namespaceOf(receiver, context);
  if (space === 'cel' && name === 'bind' && args.length === 3) return compileBind(node, context);
  if (space !== undefined) return compileMath(space, node, context);
  const loop = loopNamed(name, args.length);
  if (loop !== undefined) return loop(node, context);
  const native = methodNamed(name, args.length);
  return native === undefined
    ? unknownFunction(writtenName(name, receiver, context), args, node)
    : compileNative(native, [receiver, ...args], context);
}

function compileMath(space: string, node: NodeOf<'rcall'>, context: CompileContext): Expression {
  const [name, , args] = node.args;
  const native = space === 'math' ? mathFunction(name, args.length) : undefined;
  if (native === undefined) return unknownFunction(`${space}.${name}`, args, node);
  return compileNative(native, args, context);
}

/** `math` and `cel` are namespaces unless a variable of that name hides them. */
function namespaceOf(receiver: ASTNode, { names, locals }: CompileContext): string | undefined {
  if (receiver.op !== 'id' || names.has(receiver.args) || locals.includes(receiver.args)) return undefined;
  return receiver.args === 'math' || receiver.args === 'cel' ? receiver.args : undefined;
}

/** `cel.bind(name, value, expression)`: names a value for use in the expression. */
function compileBind(node: NodeOf<'rcall'>, context: CompileContext): Expression {
  const [name, value, body] = node.args[2];
  if (name?.op !== 'id' || value === undefined || body === undefined)
    return fault('template_syntax', 'The macro cel.bind() takes a name, a value and an expression.', node);
  const slot = context.locals.length;
  const bound = context.compile(value, context);
  const result = context.compile(body, { ...context, locals: [...context.locals, name.args] });
  return (frame) => {
    frame.locals[slot] = bound(frame);
    return result(frame);
  };
}

function compileNative(native: Native, args: readonly ASTNode[], context: CompileContext): Expression {
  const read = args.map((arg) => context.compile(arg, context));
  const [only] = read;
  if (only !== undefined && read.length === 1) return (frame) => native(frame, [only(frame)]);
  return (frame) => native(frame, readAll(read, frame));
}

const readAll = (read: readonly Expression[], frame: Frame): CelValue[] => read.map((each) => each(frame));

function refuseMatches(name: string, node: ASTNode): void {
  if (name === 'matches')
    fault(
      'unsupported',
      'The function "matches" is not available in templates. Put a pattern on the attribute.',
      node,
    );
}

/** `Math.min`, where `Math` is nothing that the expression could read. */
function writtenName(name: string, receiver: ASTNode, { names, locals }: CompileContext): string {
  const isUnknown = receiver.op === 'id' && !names.has(receiver.args) && !locals.includes(receiver.args);
  return isUnknown ? `${receiver.args}.${name}` : name;
}

function unknownFunction(name: string, args: readonly ASTNode[], node: ASTNode): never {
  const hint = functionHint(name, args.length);
  if (hint !== undefined) return fault('unknown_function', `There is no function "${name}". ${hint}`, node);
  const count = `${args.length} ${args.length === 1 ? 'argument' : 'arguments'}`;
  const isMath = mathFunction(name, args.length) !== undefined;
  const meant = isMath ? ` Did you mean "math.${name}"?` : didYouMean(name, functionNames);
  return fault('unknown_function', `There is no function "${name}" with ${count}.${meant}`, node);
}
