import {
  childPointer,
  type FieldProblem,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '@orrery/contracts';
import { fail } from '../cel/values/evaluation.js';
import { findUnknownOperators } from '../mutations/find-unknown-operators.js';
import { childPosition, type Position, rootPosition } from '../mutations/mutation.js';
import { compileKey, compileText, type KeyNode } from './compile-text.js';
import {
  type CompiledTemplate,
  resultKey,
  type TemplateNode,
  type TemplateRun,
} from './evaluate-template.js';
import { countPart, type TemplateCompiler, templateCompiler } from './template-compiler.js';

export type TemplateResult =
  | { ok: true; template: CompiledTemplate }
  | { ok: false; problems: FieldProblem[] };

export interface TemplateOptions {
  /** Variables that expressions may use. */
  names: readonly string[];
  /** The template makes a mutation: operators are checked, and data cannot bring its own. */
  mutation?: boolean;
}

/**
 * Compiles every `{{ … }}` in a template's texts and keys. Problems point into the template (RFC 6901) and name the
 * line, the column and the placeholder. Never throws; bounded by `TEMPLATE_LIMITS`.
 */
export function compileTemplate(template: JsonValue, options: TemplateOptions): TemplateResult {
  const compiler = templateCompiler(options.names);
  const position = options.mutation === true ? rootPosition(template) : 'free';
  const root = compileValue(template, { pointer: '', depth: 0, position }, compiler);
  const unknown = options.mutation === true && !compiler.stopped ? findUnknownOperators(template) : [];
  const problems = [...compiler.problems, ...unknown];
  return problems.length > 0 ? { ok: false, problems } : { ok: true, template: { root } };
}

/** Position of a value in the template. */
interface TemplatePart {
  pointer: string;
  depth: number;
  position: Position;
}

function compileValue(value: JsonValue, part: TemplatePart, compiler: TemplateCompiler): TemplateNode {
  const { pointer, depth, position } = part;
  if (!countPart(compiler, pointer, depth, typeof value === 'string' ? value.length : 0)) return () => null;
  if (typeof value === 'string') return quoteOperators(compileText(value, pointer, compiler), position);
  if (Array.isArray(value)) return compileArray(value, part, compiler);
  if (isJsonObject(value)) return compileObject(value, part, compiler);
  return () => value;
}

function compileArray(
  items: JsonValue[],
  { pointer, depth }: TemplatePart,
  compiler: TemplateCompiler,
): TemplateNode {
  const nodes = items.map((item, index) =>
    compileValue(item, { pointer: `${pointer}/${index}`, depth: depth + 1, position: 'free' }, compiler),
  );
  return (run, at) => nodes.map((node) => node(run, at + 1));
}

function compileObject(object: JsonObject, part: TemplatePart, compiler: TemplateCompiler): TemplateNode {
  const entries = Object.entries(object).map(([key, value]) => compileEntry(key, value, part, compiler));
  return (run, at) => {
    const result: JsonObject = {};
    for (const [readKey, node] of entries) {
      const key = writeKey(readKey, run, part.position);
      if (Object.hasOwn(result, key)) fail(`The key "${key}" appears twice in one object.`);
      result[key] = node(run, at + 1);
    }
    return result;
  };
}

function compileEntry(key: string, value: JsonValue, part: TemplatePart, compiler: TemplateCompiler) {
  const pointer = childPointer(part.pointer, key);
  countPart(compiler, pointer, part.depth, key.length);
  const position = childPosition(part.position, key);
  return [
    compileKey(key, pointer, compiler),
    compileValue(value, { pointer, depth: part.depth + 1, position }, compiler),
  ] as const;
}

/** Only the template's author writes operators: a key made from data cannot become one. */
function writeKey(node: KeyNode, run: TemplateRun, position: Position): string {
  const key = resultKey(node.write(run), run.left);
  if (!node.fixed && position !== 'free' && key.startsWith('$'))
    fail(`Data may not bring the operator "${key}".`);
  return key;
}

/**
 * Data that a placeholder brings into a mutation stays data. An object with `$…` keys is set as it is, through `$set`;
 * without this a caller whose input is copied into an attribute could send `{ "$increment": 1000 }`.
 */
function quoteOperators(node: TemplateNode, position: Position): TemplateNode {
  if (position === 'attribute') return (run, depth) => quoteAttribute(node(run, depth));
  if (position === 'change') return (run, depth) => quoteChange(node(run, depth));
  if (position === 'changes') return (run, depth) => mapValues(node(run, depth), quoteChange);
  return node;
}

const bringsOperator = (value: JsonObject): boolean => Object.keys(value).some((key) => key.startsWith('$'));

const quoteAttribute = (value: JsonValue): JsonValue =>
  isJsonObject(value) && bringsOperator(value) ? { $set: value } : value;

function quoteChange(change: JsonValue): JsonValue {
  if (isJsonObject(change) && bringsOperator(change))
    return fail('Data may not bring operators into a change.');
  return mapValues(change, quoteAttribute);
}

const mapValues = (value: JsonValue, write: (value: JsonValue) => JsonValue): JsonValue =>
  isJsonObject(value)
    ? Object.fromEntries(Object.entries(value).map(([key, child]) => [key, write(child)]))
    : value;
