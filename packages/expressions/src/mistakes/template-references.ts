import type { ASTNode } from '@marcbachmann/cel-js';
import {
  childPointer,
  closest,
  didYouMean,
  type FieldProblem,
  fieldProblem,
  isJsonObject,
  type JsonValue,
  MAX_PROBLEMS,
  type ProblemCode,
  toNfc,
  writeInstead,
} from '@orrery/contracts';
import { type ExpressionParser, expressionParser } from '../cel/compile-expression.js';
import { sizeHint } from '../cel/hints/other-languages.js';
import { loopNamed } from '../cel/nodes/calls.js';
import { writtenKey } from '../cel/nodes/reading.js';
import { COMPARISONS, type Comparisons, comparable } from '../messages/comparisons.js';
import { quoted } from '../messages/error-text.js';
import type { PatternWork } from '../patterns/pattern.js';
import type { CompiledContract } from '../schemas/compile-contract.js';
import { coverWork, firstMissingStep, type MissingStep } from '../schemas/covers-path.js';
import { positionIn } from '../templates/compile-template.js';
import { findPlaceholders } from '../templates/find-placeholders.js';

/** What an expression reads of the data: `input.car.speed`, `entities.horse[input.id].wins`. */
interface Reference {
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
  readonly text: string;
  /** Offset in that text, of which messages make a line and a column. */
  readonly offset: number;
}

/** Everything that those placeholders of a template read that parse. Its size is bounded by who asks. */
export function templateReferences(template: JsonValue): TemplateReference[] {
  const parser = expressionParser();
  return textsIn(template).flatMap(({ text, pointer }) => {
    const found = text.includes('{{') ? findPlaceholders(text) : undefined;
    const segments = found?.ok ? found.segments : [];
    return segments.flatMap((segment) => {
      if (typeof segment === 'string') return [];
      return referencesOf(segment.source, parser).map((reference) => ({
        ...reference,
        pointer,
        text,
        offset: segment.start + reference.start,
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

/**
 * Reads of the input, `{{ input.x }}`, that no input which fits the contract can hold: the first of them. What is not told
 * is not put into words.
 */
export const findUndeclaredInputs = (
  references: readonly TemplateReference[],
  contract: CompiledContract,
): FieldProblem[] => {
  const work = coverWork();
  const compared = { left: COMPARISONS };
  const problems: FieldProblem[] = [];
  for (const reference of references) {
    if (problems.length >= MAX_PROBLEMS) break;
    if (reference.root !== 'input') continue;
    const steps = writtenSteps(reference);
    const missing = missingIn(contract, steps, work);
    if (missing !== undefined) problems.push(undeclaredAt(reference, steps, missing, compared));
  }
  return problems;
};

/** A key that is not there as written is looked up in NFC. */
function missingIn(
  contract: CompiledContract,
  steps: readonly string[],
  work: PatternWork,
): MissingStep | undefined {
  const missing = firstMissingStep(contract, steps, work);
  return missing && firstMissingStep(contract, steps.map(toNfc), work) && missing;
}

/** The keys up to the first computed one. */
function writtenSteps({ steps }: TemplateReference): string[] {
  const computed = steps.indexOf(undefined);
  return steps.slice(0, computed < 0 ? steps.length : computed).filter((step) => step !== undefined);
}

function undeclaredAt(
  reference: TemplateReference,
  steps: readonly string[],
  { index, declared }: MissingStep,
  compared: Comparisons,
): FieldProblem {
  const [key = ''] = steps.slice(index);
  const names = comparable(declared, compared);
  const isPart = index > 0 && declared.length === 0;
  const size = isPart ? sizeHint(key, ['input', ...steps.slice(0, index)].join('.')) : '';
  const path = quoted(steps.slice(0, index + 1).join('.'));
  const message = `The inputSchema has no "${path}".${didYouMean(key, names)}${size}`;
  return problemAt(reference, 'path_not_in_input', message, writeInstead(closest(key, names)));
}

/** Reads of `entities.<schema>` where `readEntities` does not read the schema, so that it is not there. */
export const findUnreadEntities = (
  references: readonly TemplateReference[],
  read: readonly string[],
): FieldProblem[] => {
  const compared = { left: COMPARISONS };
  return references
    .flatMap((reference) => {
      const [schema] = reference.steps;
      const isRead = reference.root !== 'entities' || schema === undefined || read.includes(toNfc(schema));
      return isRead ? [] : [{ reference, schema }];
    })
    .slice(0, MAX_PROBLEMS)
    .map(({ reference, schema }) => {
      const name = quoted(schema);
      const add = `Add { "schema": "${name}" } to readEntities.`;
      const names = comparable(read, compared);
      const advice = didYouMean(schema, names) || ` ${add}`;
      const message = `Nothing is read of "${name}": readEntities does not name it.${advice}`;
      const suggestion = writeInstead(closest(schema, names)) ?? add;
      return problemAt(reference, 'entities_not_read', message, suggestion);
    });
};

/** Reads of `history` by a version without `readHistory`, where it is empty. */
export const findUnreadHistory = (references: readonly TemplateReference[]): FieldProblem[] =>
  references
    .filter(({ root }) => root === 'history')
    .slice(0, MAX_PROBLEMS)
    .map((reference) =>
      problemAt(
        reference,
        'history_not_read',
        'The version has no readHistory, so it remembers nothing. Add "readHistory": { "last": 20 }.',
      ),
    );

const problemAt = (
  { pointer, text, offset }: TemplateReference,
  code: ProblemCode,
  message: string,
  suggestion?: string,
): FieldProblem => fieldProblem(pointer, code, `${positionIn(text, offset)}: ${message}`, suggestion);
