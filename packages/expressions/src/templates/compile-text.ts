import { compileExpression } from '../cel/compile-expression.js';
import { ExpressionFault } from '../cel/nodes/compile-context.js';
import { type CelValue, keyToText, valueToText, wordFor } from '../cel/values/cel-value.js';
import { EvaluationFailure, fail, spend } from '../cel/values/evaluation.js';
import { quoted } from '../messages/error-text.js';
import {
  type Placeholder,
  resultText,
  type TemplateNode,
  type TemplateRun,
  toJson,
} from './evaluate-template.js';
import { findPlaceholders, type Segment } from './find-placeholders.js';
import { addProblem, type TemplateCompiler } from './template-compiler.js';

type Piece = string | Placeholder;

/** The pieces of a text; undefined when something in it was wrong (and has been reported). */
function compilePieces(text: string, pointer: string, compiler: TemplateCompiler): Piece[] | undefined {
  const found = findPlaceholders(text);
  if (!found.ok) {
    const position = positionIn(text, found.start);
    const message = `${position}: the placeholder is not closed with }}, or a text in it not with its quote. It begins with ${quoted(text.slice(found.start), 120)}`;
    addProblem(compiler, pointer, 'template_syntax', message);
    return undefined;
  }
  const pieces = found.segments.map((segment) => compilePiece(segment, text, pointer, compiler));
  return pieces.includes(undefined) ? undefined : (pieces as Piece[]);
}

const compilePiece = (segment: Segment, text: string, pointer: string, compiler: TemplateCompiler) =>
  segment.kind === 'literal' ? segment.text : compilePlaceholder(segment, text, pointer, compiler);

/** Compiles a text that is a value: exactly one placeholder keeps its JSON type, anything else becomes text. */
export function compileText(text: string, pointer: string, compiler: TemplateCompiler): TemplateNode {
  const pieces = compilePieces(text, pointer, compiler) ?? [];
  const [only] = pieces;
  if (pieces.length === 1 && typeof only === 'object') return jsonOf(only);
  if (pieces.every((piece) => typeof piece === 'string')) return ({ left }) => resultText(text, left);
  return (run) => joined(pieces, run, insideText);
}

const jsonOf =
  (placeholder: Placeholder): TemplateNode =>
  (run, depth) => {
    run.current = placeholder;
    return toJson(placeholder.run(run.frame), run.left, depth);
  };

/** Compiles a text that is a key. */
export function compileKey(text: string, pointer: string, compiler: TemplateCompiler): KeyNode {
  const pieces = compilePieces(text, pointer, compiler) ?? [];
  if (pieces.every((piece) => typeof piece === 'string')) return { fixed: true, write: () => text };
  return { fixed: false, write: (run) => joined(pieces, run, insideKey) };
}

/** A compiled key; a fixed one has no placeholders. */
export interface KeyNode {
  readonly fixed: boolean;
  write(run: TemplateRun): string;
}

function joined(
  pieces: readonly Piece[],
  run: TemplateRun,
  write: (value: CelValue, run: TemplateRun) => string,
) {
  let text = '';
  for (const piece of pieces) {
    if (typeof piece === 'string') text += piece;
    else {
      run.current = piece;
      text += write(piece.run(run.frame), run);
    }
    if (text.length > run.left.characters) throw new EvaluationFailure('The result is too large.', true);
  }
  return resultText(text, run.left);
}

/** Inside longer text: texts as they are, numbers in digits, null, lists and objects as JSON. */
function insideText(value: CelValue, run: TemplateRun): string {
  if (value !== null && (Array.isArray(value) || wordFor(value) === 'an object')) {
    const text = JSON.stringify(toJson(value, run.left, 0));
    spend(run.frame, text.length >> 4);
    return text;
  }
  return value === null ? 'null' : valueToText(value);
}

/** A key names something: null, lists, objects and booleans are refused rather than written out. */
function insideKey(value: CelValue): string {
  const text = keyToText(value);
  return text === '' ? fail('A placeholder in a key is empty.') : text;
}

/** Compiles one placeholder of `text`; problems carry the line and column in that text. */
function compilePlaceholder(
  segment: Extract<Segment, { kind: 'placeholder' }>,
  text: string,
  pointer: string,
  compiler: TemplateCompiler,
): Placeholder | undefined {
  if (!countPlaceholder(segment.source, pointer, compiler)) return undefined;
  const compiled = compileExpression(segment.source, compiler.expressions);
  if (!(compiled instanceof ExpressionFault)) return { text: segment.text, pointer, run: compiled };
  if (compiler.expressions.nodesLeft < 0) compiler.stopped = true;
  const position = positionIn(text, segment.start + compiled.offset);
  addProblem(
    compiler,
    pointer,
    compiled.code,
    `${position}: ${compiled.message} The placeholder is ${quoted(segment.text, 120)}`,
  );
  return undefined;
}

function countPlaceholder(source: string, pointer: string, compiler: TemplateCompiler): boolean {
  if (compiler.stopped) return false;
  compiler.left.placeholders -= 1;
  compiler.left.expressionCharacters -= source.length;
  if (compiler.left.placeholders >= 0 && compiler.left.expressionCharacters >= 0) return true;
  addProblem(compiler, pointer, 'template_too_large', 'The template has too many or too long placeholders.');
  compiler.stopped = true;
  return false;
}

/** "Line 2, column 7" of an offset in a text; both count from 1. */
export function positionIn(text: string, offset: number): string {
  const before = text.slice(0, offset);
  const line = before.split('\n').length;
  return `Line ${line}, column ${offset - before.lastIndexOf('\n')}`;
}
