import type { ASTNode } from '@marcbachmann/cel-js';
import { type CompileContext, fault, type NodeOf } from './compile-context.js';
import type { Expression } from './frame.js';
import { compileCall, compileMethod } from './nodes/calls.js';
import { compileList, compileMap } from './nodes/collections.js';
import { compileAnd, compileChoice, compileNot, compileOr } from './nodes/logic.js';
import { compileBinary, compileNegation } from './nodes/operators.js';
import { compileIndex, compileMember, compileName, compileValue } from './nodes/reading.js';

/** Compiles one node of cel-js's syntax tree, its operands first. Throws `ExpressionFault`. */
export function compileNode(node: ASTNode, context: CompileContext): Expression {
  if (++context.usage.nodes > context.usage.limit)
    fault('template_too_large', 'The expressions have too many parts.', node);
  return compilers[node.op](node as never, context);
}

type Compilers = { [Op in ASTNode['op']]: (node: NodeOf<Op>, context: CompileContext) => Expression };

const optionals = (node: ASTNode): never => fault('unsupported', 'Optional access is not supported.', node);

const compilers: Readonly<Compilers> = {
  value: compileValue,
  id: compileName,
  '.': compileMember,
  '[]': compileIndex,
  '.?': optionals,
  '[?]': optionals,
  call: compileCall,
  rcall: compileMethod,
  list: compileList,
  map: compileMap,
  '?:': compileChoice,
  '||': compileOr,
  '&&': compileAnd,
  '!_': compileNot,
  '-_': compileNegation,
  '==': compileBinary,
  '!=': compileBinary,
  in: compileBinary,
  '+': compileBinary,
  '-': compileBinary,
  '*': compileBinary,
  '/': compileBinary,
  '%': compileBinary,
  '<': compileBinary,
  '<=': compileBinary,
  '>': compileBinary,
  '>=': compileBinary,
};
