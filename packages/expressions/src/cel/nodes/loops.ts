import { type CelValue, isMap, keysOf, wordFor } from '../values/cel-value.js';
import { fail, spend } from '../values/evaluation.js';
import {
  type CompileContext,
  EXPRESSION_LIMITS,
  type Expression,
  type Frame,
  fault,
  type NodeOf,
} from './compile-context.js';
import { type Outcome, outcomeOf, toBoolean } from './logic.js';

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
