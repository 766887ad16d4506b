import type { ParseError } from '@marcbachmann/cel-js';
import { asSentence, quoted } from '../../messages/error-text.js';
import { syntaxHint } from './other-languages.js';

/** cel-js's names for what it reads, in the characters that authors write. */
const WRITTEN: Readonly<Record<string, string>> = {
  EOF: 'the end of the expression',
  RPAREN: '")"',
  LPAREN: '"("',
  RBRACKET: '"]"',
  LBRACKET: '"["',
  RBRACE: '"}"',
  LBRACE: '"{"',
  COLON: '":"',
  COMMA: '","',
  DOT: '"."',
  PLUS: '"+"',
  MINUS: '"-"',
  MULTIPLY: '"*"',
  DIVIDE: '"/"',
  MODULO: '"%"',
  LT: '"<"',
  LE: '"<="',
  GT: '">"',
  GE: '">="',
  EQ: '"=="',
  NE: '"!="',
  AND: '"&&"',
  OR: '"||"',
  NOT: '"!"',
  QUESTION: '"?"',
  IN: '"in"',
  IDENTIFIER: 'a name',
  NUMBER: 'a number',
  STRING: 'a text',
};

/** What is wrong with an expression that does not parse, and what to write instead where that is known. */
export function syntaxMessage(error: ParseError, source: string): string {
  if (source.trim() === '') return 'The placeholder is empty: write an expression, as in {{ input.id }}.';
  const start = error.range?.start ?? 0;
  const known =
    wordAsName(source, start) ??
    syntaxHint(source, start) ??
    halfChoice(error, source, start) ??
    stopAt(source, start);
  return known ?? leftOver(error, source, start) ?? asSentence(inWords(error.summary));
}

/** `input.in`, `input.1st`: no identifiers, so these names are reached in brackets. */
function wordAsName(source: string, start: number): string | undefined {
  const before = /([\w.]+)\.\s*$/.exec(endOf(source, start))?.[1];
  const word = /^[\w$]+/.exec(source.slice(start))?.[0];
  if (before === undefined || word === undefined) return undefined;
  return `"${word}" cannot follow a dot, since it is a word of the language or no identifier: write ${before}["${word}"].`;
}

/** What stands right before an offset; patterns that look back are slow on more. */
export const endOf = (source: string, start: number): string => source.slice(Math.max(0, start - 100), start);

/** A condition with one side; in an object a colon may belong to a key. */
function halfChoice({ summary }: ParseError, source: string, start: number): string | undefined {
  const asked = /\?[^{}?:]*$/.test(endOf(source, start));
  return asked && summary.startsWith('Expected COLON')
    ? 'A condition needs a value for either case: write "input.a ? 1 : 2", or "input.a ? 1 : null".'
    : undefined;
}

function stopAt(source: string, start: number): string | undefined {
  return source.slice(start).trim() === '' ? 'The expression ends too early.' : undefined;
}

/** cel-js names the last character of what is left over, such as the `D` of `AND`. */
function leftOver({ summary }: ParseError, source: string, start: number): string | undefined {
  if (!summary.startsWith("Unexpected character: '")) return undefined;
  const word = /^(?:\w+|.)/su.exec(source.slice(start))?.[0];
  return `Unexpected "${quoted(word ?? '')}" after a complete expression.`;
}

const inWords = (summary: string): string =>
  summary.replace(/\b[A-Z]{2,}\b/g, (token) => WRITTEN[token] ?? token);
