import { ExpressionFault } from '../cel/compile-context.js';
import { compileExpression } from '../cel/compile-expression.js';
import type { Expression } from '../cel/frame.js';
import type { Segment } from './find-placeholders.js';
import { placeIn } from './place-in.js';
import { addProblem, type TemplateCompiler } from './template-compiler.js';

/** A compiled `{{ … }}` and where it stands. */
export interface Placeholder {
  readonly text: string;
  readonly pointer: string;
  readonly run: Expression;
}

/** Compiles one placeholder of `text`; problems carry the line and column in that text. */
export function compilePlaceholder(
  segment: Extract<Segment, { kind: 'placeholder' }>,
  text: string,
  pointer: string,
  compiler: TemplateCompiler,
): Placeholder | undefined {
  if (!takeRoom(segment.source, pointer, compiler)) return undefined;
  const compiled = compileExpression(segment.source, compiler.expressions);
  if (!(compiled instanceof ExpressionFault)) return { text: segment.text, pointer, run: compiled };
  if (compiler.expressions.nodesLeft < 0) compiler.stopped = true;
  const place = placeIn(text, segment.start + compiled.offset);
  addProblem(compiler, pointer, compiled.code, `${place}: ${compiled.message}, in ${shorten(segment.text)}`);
  return undefined;
}

function takeRoom(source: string, pointer: string, compiler: TemplateCompiler): boolean {
  if (compiler.stopped) return false;
  compiler.left.placeholders -= 1;
  compiler.left.expressionCharacters -= source.length;
  if (compiler.left.placeholders >= 0 && compiler.left.expressionCharacters >= 0) return true;
  addProblem(compiler, pointer, 'template_too_large', 'the template has too many or too long placeholders');
  compiler.stopped = true;
  return false;
}

export const shorten = (text: string): string => (text.length > 120 ? `${text.slice(0, 120)}…` : text);
