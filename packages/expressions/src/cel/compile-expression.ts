import { type ASTNode, type BinaryOperator, Environment, ParseError } from '@marcbachmann/cel-js';
import { asSentence } from '../messages/error-text.js';
import { endOf, syntaxMessage } from './hints/other-languages.js';
import { compileCall, compileMethod } from './nodes/calls.js';
import {
  type CompileContext,
  EXPRESSION_LIMITS,
  type Expression,
  ExpressionFault,
  fault,
  type NodeOf,
} from './nodes/compile-context.js';
import {
  compileBinary,
  compileChoice,
  compileLogic,
  compileNegation,
  compileNot,
  isBinary,
} from './nodes/operators.js';
import {
  compileIndex,
  compileList,
  compileMap,
  compileMember,
  compileName,
  compileValue,
} from './nodes/reading.js';

export type ExpressionParser = Pick<Environment, 'parse'>;

/** A parser for one template: it keeps the name of every function that it has met. */
export const expressionParser = (): ExpressionParser =>
  new Environment({ limits: { maxAstNodes: EXPRESSION_LIMITS.nodes, maxDepth: EXPRESSION_LIMITS.depth } });

/** Compiles expressions that may use the same names; their parts are counted together. */
export interface ExpressionCompiler {
  readonly names: ReadonlySet<string>;
  readonly parser: ExpressionParser;
  nodesLeft: number;
  /** Whether random numbers may be drawn: only where each expression is evaluated once, in a fixed order. */
  readonly mayDraw: boolean;
  /** Calls compiled so far that draw. */
  draws: number;
}

export const expressionCompiler = (
  names: readonly string[],
  nodes: number,
  mayDraw = false,
): ExpressionCompiler => ({
  names: new Set(names),
  parser: expressionParser(),
  nodesLeft: nodes,
  mayDraw,
  draws: 0,
});

/** Compiles one node, where it stands. Throws `ExpressionFault`. */
export type CompilePart = (node: ASTNode) => Expression;

/** An expression as one closure. Never throws. */
export const compileExpression = (
  source: string,
  compiler: ExpressionCompiler,
): Expression | ExpressionFault => compileParts(source, compiler, (root, compile) => compile(root));

/**
 * A CEL expression (cel.dev) compiled to closures: compiled once, evaluated many times. `build` says which of its nodes.
 *
 * cel-js parses, and this package evaluates. cel-js's own evaluator keeps a type for every shape of data that it has
 * compared, for the life of the process, and callers could grow that without bound. It has no work budget, runs `matches`
 * on a backtracking engine, and refuses `size(x) * 0.5` or a number from JSON as an argument (docs/adr/0006).
 *
 * Never throws.
 */
export function compileParts<T>(
  source: string,
  compiler: ExpressionCompiler,
  build: (root: ASTNode, compile: CompilePart) => T,
): T | ExpressionFault {
  const { characters, nestedLoops, nodes } = EXPRESSION_LIMITS;
  if (source.length > characters)
    return new ExpressionFault(
      'template_too_large',
      `An expression has at most ${characters} characters.`,
      0,
    );
  const usage = { nodes: 0, limit: Math.min(nodes, compiler.nodesLeft), draws: 0 };
  const context: CompileContext = {
    names: compiler.names,
    locals: [],
    loops: nestedLoops,
    usage,
    mayDraw: compiler.mayDraw,
    compile: compileNode,
  };
  try {
    return build(compiler.parser.parse(source).ast, (node) => compileNode(node, context));
  } catch (error) {
    return toFault(error, source);
  } finally {
    compiler.nodesLeft -= usage.nodes;
    compiler.draws += usage.draws;
  }
}

function toFault(error: unknown, source: string): ExpressionFault {
  if (error instanceof ExpressionFault) return withHint(error, source);
  if (error instanceof ParseError) {
    const start = error.range?.start ?? 0;
    if (error.code === 'limit_exceeded')
      return new ExpressionFault('template_too_large', asSentence(error.summary), start);
    return new ExpressionFault('template_syntax', syntaxMessage(error, source), start);
  }
  return new ExpressionFault('template_too_large', 'The expression is nested too deeply.', 0);
}

/** `input.horse-id` is a subtraction, which its author may not mean. */
function withHint(error: ExpressionFault, source: string): ExpressionFault {
  const { code, message, offset } = error;
  const [, path, name] = /(\w+(?:\.\w+)*)\.(\w+-)$/.exec(endOf(source, offset)) ?? [];
  if (code !== 'unknown_name' || path === undefined || name === undefined) return error;
  const rest = /^[\w-]+/.exec(source.slice(offset))?.[0] ?? '';
  return new ExpressionFault(code, `For a name with "-" write ${path}["${name}${rest}"]. ${message}`, offset);
}

/** Compiles one node of cel-js's syntax tree, its operands first. Throws `ExpressionFault`. */
function compileNode(node: ASTNode, context: CompileContext): Expression {
  if (++context.usage.nodes > context.usage.limit)
    fault('template_too_large', 'The expressions have too many parts.', node);
  return isBinary(node) ? compileBinary(node, context) : compilers[node.op](node as never, context);
}

type OtherOperator = Exclude<ASTNode['op'], BinaryOperator>;
type Compilers = { [Op in OtherOperator]: (node: NodeOf<Op>, context: CompileContext) => Expression };

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
  '||': compileLogic,
  '&&': compileLogic,
  '!_': compileNot,
  '-_': compileNegation,
};
