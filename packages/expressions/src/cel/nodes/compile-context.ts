import type { ASTNode, SourceLocation } from '@marcbachmann/cel-js';
import type { CelValue, Work } from '../values/cel-value.js';

/** One evaluation under way. */
export interface Frame extends Work {
  /** Values of the declared names; only own properties are read. */
  scope: Readonly<Record<string, unknown>>;
  /** Values of macro variables, by the slot that the compiler gave them. */
  locals: CelValue[];
}

/** A compiled expression. */
export type Expression = (frame: Frame) => CelValue;

/** Syntax nodes with this operator. */
export type NodeOf<Op extends ASTNode['op']> = Extract<ASTNode, { op: Op }>;

/** Context of compiling an expression at one node. Nested macros get a context with one more local. */
export interface CompileContext {
  readonly names: ReadonlySet<string>;
  /** Macro variables in scope; the index is the slot in `Frame.locals`. */
  readonly locals: readonly string[];
  readonly loops: number;
  /** Parts compiled so far, how many there may be, and those that draw random numbers. */
  readonly usage: { nodes: number; readonly limit: number; draws: number };
  /** Whether random numbers may be drawn. */
  readonly mayDraw: boolean;
  compile(node: ASTNode, context: CompileContext): Expression;
}

/** Bounds of one expression, checked when it is compiled. */
export const EXPRESSION_LIMITS = {
  characters: 4_096,
  nodes: 1_000,
  depth: 64,
  /** `map`, `filter`, `all`, … inside one another. */
  nestedLoops: 3,
} as const;

/** What is wrong with an expression, and where in its text (offset in UTF-16 units). */
export class ExpressionFault {
  readonly code: ExpressionFaultCode;
  readonly message: string;
  readonly offset: number;

  constructor(code: ExpressionFaultCode, message: string, offset: number) {
    this.code = code;
    this.message = message;
    this.offset = offset;
  }
}

export type ExpressionFaultCode =
  | 'template_syntax'
  | 'unknown_name'
  | 'unknown_function'
  | 'unsupported'
  | 'random_not_allowed'
  | 'template_too_large';

export function fault(code: ExpressionFaultCode, message: string, node: SourceLocation): never {
  throw new ExpressionFault(code, message, node.start);
}
