import type { ASTNode } from '@marcbachmann/cel-js';
import { didYouMean } from '@orrery/contracts';
import type { Native } from '../functions/conversions.js';
import {
  functionNamed,
  functionNames,
  mathFunction,
  methodNamed,
  randomFunction,
} from '../functions/table.js';
import { functionHint } from '../hints/other-languages.js';
import { type CelValue, fail, isMap, keysOf, spend, wordFor } from '../values/cel-value.js';
import {
  type CompileContext,
  EXPRESSION_LIMITS,
  type Expression,
  type Frame,
  fault,
  type NodeOf,
} from './compile-context.js';
import { type Outcome, outcomeOf, toBoolean } from './operators.js';
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
  if (space === 'random') return compileDraw(node, context);
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

function compileDraw(node: NodeOf<'rcall'>, context: CompileContext): Expression {
  const [name, , args] = node.args;
  const native = randomFunction(name, args.length);
  if (native === undefined) return unknownFunction(`random.${name}`, args, node);
  if (!context.mayDraw)
    fault(
      'random_not_allowed',
      `The function "random.${name}" cannot stand here: the expression may be evaluated more than once, or by none who draws. Draw in the template of an event, or in its followUps.`,
      node,
    );
  context.usage.draws += 1;
  return compileNative(native, args, context);
}

/** `math`, `random` and `cel` are namespaces unless a variable of that name hides them. */
function namespaceOf(receiver: ASTNode, { names, locals }: CompileContext): string | undefined {
  if (receiver.op !== 'id' || names.has(receiver.args) || locals.includes(receiver.args)) return undefined;
  return NAMESPACES.has(receiver.args) ? receiver.args : undefined;
}

const NAMESPACES: ReadonlySet<string> = new Set(['math', 'random', 'cel']);

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

type LoopCompiler = (node: NodeOf<'rcall'>, context: CompileContext) => Expression;
type Loop = (each: Each, frame: Frame) => CelValue;

/** A loop's parts at run time: the elements, and what to evaluate with the loop's variable set. */
interface Each {
  elements: readonly CelValue[];
  set(frame: Frame, element: CelValue): void;
  parts: readonly Expression[];
}

const loops: ReadonlyMap<string, Loop> = new Map<string, Loop>([
  ['all/2', (each, frame) => quantify(each, frame, false)],
  ['exists/2', (each, frame) => quantify(each, frame, true)],
  ['exists_one/2', (each, frame) => filter(each, frame).length === 1],
  ['existsOne/2', (each, frame) => filter(each, frame).length === 1],
  ['filter/2', filter],
  ['map/2', (each, frame) => map(each, frame, undefined, each.parts[0])],
  ['map/3', (each, frame) => map(each, frame, each.parts[0], each.parts[1])],
]);

/** Compiler of a macro over a list, or over the keys of an object. */
export function loopNamed(name: string, args: number): LoopCompiler | undefined {
  const loop = loops.get(`${name}/${args}`);
  return loop && ((node, context) => compileLoop(loop, node, context));
}

function compileLoop(loop: Loop, node: NodeOf<'rcall'>, context: CompileContext): Expression {
  const [name, receiver, [variable, ...body]] = node.args;
  if (variable?.op !== 'id')
    return fault('template_syntax', `The macro ${name}() takes a variable name first.`, node);
  if (context.loops === 0)
    return fault(
      'template_too_large',
      `Loops may be nested at most ${EXPRESSION_LIMITS.nestedLoops} deep.`,
      node,
    );
  const range = context.compile(receiver, context);
  const slot = context.locals.length;
  const inner = { ...context, loops: context.loops - 1, locals: [...context.locals, variable.args] };
  const before = context.usage.nodes;
  const parts = body.map((part) => context.compile(part, inner));
  const weight = 1 + context.usage.nodes - before;
  const set = (frame: Frame, element: CelValue): void => {
    spend(frame, weight);
    frame.locals[slot] = element;
  };
  return (frame) => loop({ elements: elementsOf(frame, range(frame)), set, parts }, frame);
}

function elementsOf(frame: Frame, value: CelValue): readonly CelValue[] {
  if (Array.isArray(value)) return value;
  return isMap(value) ? keysOf(frame, value) : fail(`Cannot loop over ${wordFor(value)}.`);
}

const always: Expression = () => true;

/** `all` (one false decides) and `exists` (one true decides); failures of others count only if none decides. */
function quantify({ elements, set, parts: [test = always] }: Each, frame: Frame, deciding: boolean): boolean {
  let failure: Outcome = !deciding;
  for (const element of elements) {
    set(frame, element);
    const outcome = outcomeOf(test, frame);
    if (outcome === deciding) return deciding;
    if (typeof failure === 'boolean') failure = outcome;
  }
  if (typeof failure !== 'boolean') throw failure;
  return !deciding;
}

function filter({ elements, set, parts: [test = always] }: Each, frame: Frame): CelValue[] {
  return elements.filter((element) => {
    set(frame, element);
    return toBoolean(test(frame));
  });
}

function map({ elements, set }: Each, frame: Frame, test = always, transform = always): CelValue[] {
  const results: CelValue[] = [];
  for (const element of elements) {
    set(frame, element);
    if (toBoolean(test(frame))) results.push(transform(frame));
  }
  return results;
}
