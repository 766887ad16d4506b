import type { ASTNode } from '@marcbachmann/cel-js';
import { childPointer, isJsonObject, type JsonValue } from '@orrery/contracts';
import { type ExpressionParser, expressionParser } from '../cel/compile-expression.js';
import { loopNamed } from '../cel/nodes/loops.js';
import { writtenKey } from '../cel/nodes/reading.js';
import { positionIn } from '../templates/compile-text.js';
import { findPlaceholders } from '../templates/find-placeholders.js';

/** What an expression reads of the data: `input.car.speed`, `entities.horse[input.id].wins`. */
export interface Reference {
  readonly root: string;
  /** The keys below the root; undefined where a key is computed. */
  readonly steps: readonly (string | undefined)[];
  /** Offset in the expression, in UTF-16 units. */
  readonly start: number;
}

/** What a template reads of the data, and where the template does so. */
export interface TemplateReference extends Reference {
  /** Of the text or the key, in the template. */
  readonly pointer: string;
  /** In that text: `Line 1, column 4`. */
  readonly position: string;
}

/** Everything that those placeholders of a template read that parse. Its size is bounded by who asks. */
export function templateReferences(template: JsonValue): TemplateReference[] {
  const parser = expressionParser();
  return textsIn(template).flatMap(({ text, pointer }) => {
    const found = text.includes('{{') ? findPlaceholders(text) : undefined;
    const segments = found?.ok ? found.segments : [];
    return segments.flatMap((segment) => {
      if (segment.kind === 'literal') return [];
      return referencesOf(segment.source, parser).map((reference) => ({
        ...reference,
        pointer,
        position: positionIn(text, segment.start + reference.start),
      }));
    });
  });
}

interface TemplateText {
  readonly text: string;
  readonly pointer: string;
  readonly isKey: boolean;
}

/** All texts and keys of a template, with their pointers. */
export function textsIn(value: JsonValue, pointer = ''): TemplateText[] {
  if (typeof value === 'string') return [{ text: value, pointer, isKey: false }];
  if (Array.isArray(value)) return value.flatMap((item, index) => textsIn(item, `${pointer}/${index}`));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => {
    const at = childPointer(pointer, key);
    return [{ text: key, pointer: at, isKey: true }, ...textsIn(member, at)];
  });
}

/** What an expression reads of the data. What does not parse reads nothing. */
export function referencesOf(source: string, parser: ExpressionParser): Reference[] {
  try {
    return referencesIn(parser.parse(source).ast);
  } catch {
    return [];
  }
}

/** What an expression reads of the declared names, each with all its keys. Variables of macros are not followed. */
function referencesIn(node: ASTNode, locals: readonly string[] = []): Reference[] {
  if (node.op === 'id')
    return locals.includes(node.args) ? [] : [{ root: node.args, steps: [], start: node.start }];
  if (node.op === '.' || node.op === '[]') return [...chainOf(node, locals), ...indexesOf(node, locals)];
  if (node.op === 'rcall') return inMethod(node.args, locals);
  return partsOf(node.args).flatMap((part) => referencesIn(part, locals));
}

function chainOf(node: ASTNode, locals: readonly string[]): Reference[] {
  const steps: (string | undefined)[] = [];
  let at = node;
  while (at.op === '.' || at.op === '[]') {
    steps.unshift(writtenKey(at));
    at = at.args[0];
  }
  if (at.op !== 'id') return referencesIn(at, locals);
  return locals.includes(at.args) ? [] : [{ root: at.args, steps, start: node.start }];
}

function indexesOf(node: ASTNode, locals: readonly string[]): Reference[] {
  if (node.op === '.') return indexesOf(node.args[0], locals);
  if (node.op !== '[]') return [];
  return [...referencesIn(node.args[1], locals), ...indexesOf(node.args[0], locals)];
}

type Method = Extract<ASTNode, { op: 'rcall' }>['args'];

/** Macros bring a variable of their own: `list.map(x, …)`, `cel.bind(x, value, …)`. */
function inMethod([name, receiver, args]: Method, locals: readonly string[]): Reference[] {
  const [variable, ...body] = args;
  const isBind = name === 'bind' && receiver.op === 'id' && receiver.args === 'cel';
  if (variable?.op !== 'id' || !(isBind || loopNamed(name, args.length)))
    return [receiver, ...args].flatMap((part) => referencesIn(part, locals));
  const [value, ...rest] = body;
  const inner = [...locals, variable.args];
  const outside = isBind && value !== undefined ? [value] : [receiver];
  return [
    ...outside.flatMap((part) => referencesIn(part, locals)),
    ...(isBind ? rest : body).flatMap((part) => referencesIn(part, inner)),
  ];
}

/** The nodes among a node's arguments, at any depth of lists. */
function partsOf(args: unknown): ASTNode[] {
  if (Array.isArray(args)) return args.flatMap(partsOf);
  return isNode(args) ? [args] : [];
}

const isNode = (value: unknown): value is ASTNode =>
  typeof value === 'object' && value !== null && 'op' in value && 'args' in value;
