import {
  canonicalJson,
  childPointer,
  type FieldProblem,
  fieldProblem,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type ProblemCode,
} from '@orrery/contracts';
import { compileExpression, type ExpressionCompiler, expressionCompiler } from '../cel/compile-expression.js';
import { ExpressionFault } from '../cel/nodes/compile-context.js';
import { type CelValue, fail, isMap, keyToText, spend, valueToText } from '../cel/values/cel-value.js';
import { quoted } from '../messages/error-text.js';
import { operatorComplaint } from '../mutations/changes-in-template.js';
import {
  childPosition,
  elementPosition,
  isMutationForm,
  type Position,
  rootPosition,
} from '../mutations/mutation.js';
import {
  type CompiledTemplate,
  MAX_DEPTH,
  type Placeholder,
  type TemplateNode,
  type TemplateRun,
  tooLarge,
} from './evaluate-template.js';
import { type FoundPlaceholder, findPlaceholders } from './find-placeholders.js';

type TemplateResult = { ok: true; template: CompiledTemplate } | { ok: false; problems: FieldProblem[] };

interface TemplateOptions {
  /** Variables that expressions may use. */
  names: readonly string[];
  /** The template makes a mutation: operators are checked, and data cannot bring its own. */
  mutation?: boolean;
  /** It is evaluated once, by who brings draws: its expressions may draw random numbers. */
  random?: boolean;
}

/** Bounds of a template as a whole, checked when it is compiled. One expression's own bounds are in `cel/`. */
const TEMPLATE_LIMITS = {
  /** JSON values in it. */
  values: 10_000,
  /** Characters of all its texts and keys. */
  characters: 262_144,
  placeholders: 1_000,
  /** Characters of all its expressions. */
  expressionCharacters: 65_536,
  /** Parts (names, literals, operators, calls) of all its expressions. */
  expressionNodes: 20_000,
  problems: 20,
} as const;

/**
 * Compiles every `{{ … }}` in a template's texts and keys. Problems point into the template (RFC 6901) and name the
 * line, the column and the placeholder. Never throws; bounded by `TEMPLATE_LIMITS`.
 */
export function compileTemplate(
  template: JsonValue,
  { names, mutation, random = false }: TemplateOptions,
): TemplateResult {
  const compiler = new TemplateCompiler(names, random);
  const position = mutation === true ? rootPosition(template) : 'free';
  const compiled = compiler.compile(template, { pointer: '', depth: 0, position });
  const root = position === 'changes' ? refuseForm(compiled) : compiled;
  const problems = compiler.allProblems();
  return problems.length > 0
    ? { ok: false, problems }
    : { ok: true, template: { root, draws: compiler.draws } };
}

/**
 * A map of changes stays one whatever its keys become: with the form's keys, its changes would be read one level deeper, where
 * data was not kept from bringing operators.
 */
const refuseForm =
  (root: TemplateNode): TemplateNode =>
  (run, at) => {
    const value = root(run, at);
    const [key] = isJsonObject(value) && isMutationForm(value) ? Object.keys(value) : [];
    return key === undefined ? value : fail(`${REFUSED_FORM} "${key}" of a mutation.`);
  };

const REFUSED_FORM = 'Data may not bring the key';

/** Whether an evaluation failed as `refuseForm` says: earlier releases executed it. */
export const isRefusedForm = (reason: unknown): boolean =>
  typeof reason === 'string' && reason.startsWith(REFUSED_FORM);

/** Position of a value in the template. */
interface TemplatePart {
  pointer: string;
  depth: number;
  position: Position;
}

/** What a text is made of: written as it stands, or evaluated. */
type Piece = string | Placeholder;

/** A template under way: the problems so far, and what is left of the limits. */
class TemplateCompiler {
  readonly #expressions: ExpressionCompiler;
  readonly #left: Record<keyof typeof TEMPLATE_LIMITS, number> = { ...TEMPLATE_LIMITS };
  readonly #problems: FieldProblem[] = [];
  readonly #ofOperators: FieldProblem[] = [];
  /** Set when the compilation ends early. */
  #stopped = false;

  constructor(names: readonly string[], mayDraw: boolean) {
    this.#expressions = expressionCompiler(names, TEMPLATE_LIMITS.expressionNodes, mayDraw);
  }

  /** Whether an expression draws random numbers. */
  get draws(): boolean {
    return this.#expressions.draws > 0;
  }

  /** Those of operators last: they are not told of a template that was not compiled to its end. */
  allProblems(): FieldProblem[] {
    return this.#stopped
      ? this.#problems
      : [...this.#problems, ...this.#ofOperators.slice(0, TEMPLATE_LIMITS.problems)];
  }

  compile(value: JsonValue, part: TemplatePart): TemplateNode {
    if (!this.#countPart(part, typeof value === 'string' ? value.length : 0)) return () => null;
    if (typeof value === 'string')
      return quoteOperators(this.#compileText(value, part.pointer), part.position);
    if (Array.isArray(value)) return this.#compileArray(value, part);
    if (isJsonObject(value)) return this.#compileObject(value, part);
    return () => value;
  }

  #compileArray(items: JsonValue[], { pointer, depth, position }: TemplatePart): TemplateNode {
    const below = { depth: depth + 1, position: elementPosition(position) };
    const nodes = items.map((item, index) =>
      this.compile(item, { pointer: `${pointer}/${index}`, ...below }),
    );
    return (run, at) => nodes.map((node) => node(run, at + 1));
  }

  #compileObject(object: JsonObject, part: TemplatePart): TemplateNode {
    const before = this.#expressions.draws;
    const keys = Object.keys(object);
    const compiled = keys.map((key) => this.#compileEntry(key, object, part));
    // The order of RFC 8785, which the order of the members in a stored document does not change.
    const ordered = inOrderOfKeys(keys, compiled);
    const inRevision1 = this.#expressions.draws > before ? ordered : compiled;
    return (run, at) => {
      const entries = run.frame.evaluator === 1 ? inRevision1 : ordered;
      const result: JsonObject = {};
      for (const [writeKey, node] of entries) {
        const key = writeKey(run);
        if (Object.hasOwn(result, key))
          fail(({ computed }) => `The key ${computed(key)} appears twice in one object.`);
        result[key] = node(run, at + 1);
      }
      return result;
    };
  }

  #compileEntry(key: string, object: JsonObject, part: TemplatePart) {
    const pointer = childPointer(part.pointer, key);
    this.#countPart({ ...part, pointer }, key.length);
    const complaint = operatorComplaint(key, object, part.position);
    if (complaint !== undefined) this.#ofOperators.push(fieldProblem(pointer, 'unknown_operator', complaint));
    const position = childPosition(part.position, key);
    return [
      this.#compileKey(key, pointer, part.position),
      this.compile(object[key] ?? null, { pointer, depth: part.depth + 1, position }),
    ] as const;
  }

  /** A text that is a key. Only the template's author writes operators: a key made from data cannot become one. */
  #compileKey(text: string, pointer: string, position: Position): (run: TemplateRun) => string {
    const pieces = this.#compilePieces(text, pointer);
    if (pieces.every((piece) => typeof piece === 'string')) return (run) => run.toKey(text);
    const takesOperators = position !== 'free' && position !== 'listed';
    return (run) => {
      const key = run.toKey(joined(pieces, run, insideKey));
      return takesOperators && key.startsWith('$')
        ? fail(({ computed }) => `Data may not bring the operator ${computed(key)}.`)
        : key;
    };
  }

  /** A text that is a value: exactly one placeholder keeps its JSON type, anything else becomes text. */
  #compileText(text: string, pointer: string): TemplateNode {
    const pieces = this.#compilePieces(text, pointer);
    const [only] = pieces;
    if (pieces.length === 1 && typeof only === 'object')
      return (run, depth) => run.toJson(run.valueOf(only), depth);
    if (pieces.every((piece) => typeof piece === 'string')) return (run) => run.toText(text);
    return (run) => joined(pieces, run, insideText);
  }

  /** The pieces of a text; none when something in it was wrong (and has been reported). */
  #compilePieces(text: string, pointer: string): Piece[] {
    const found = findPlaceholders(text);
    if (!found.ok) {
      const position = positionIn(text, found.start);
      const message = `${position}: the placeholder is not closed with }}, or a text in it not with its quote. It begins with ${quoted(text.slice(found.start), 120)}`;
      this.#complain(pointer, 'template_syntax', message);
      return [];
    }
    const pieces = found.segments.map((segment) =>
      typeof segment === 'string' ? segment : this.#compilePlaceholder(segment, text, pointer),
    );
    return pieces.includes(undefined) ? [] : (pieces as Piece[]);
  }

  /** Problems carry the line and column in the text that the placeholder stands in. */
  #compilePlaceholder(found: FoundPlaceholder, text: string, pointer: string): Placeholder | undefined {
    if (!this.#countPlaceholder(found.source, pointer)) return undefined;
    const compiled = compileExpression(found.source, this.#expressions);
    if (!(compiled instanceof ExpressionFault)) return { text: found.text, pointer, run: compiled };
    if (this.#expressions.nodesLeft < 0) this.#stopped = true;
    const position = positionIn(text, found.start + compiled.offset);
    const message = `${position}: ${compiled.message} The placeholder is ${quoted(found.text, 120)}`;
    this.#complain(pointer, compiled.code, message);
    return undefined;
  }

  #complain(pointer: string, code: ProblemCode, message: string): void {
    this.#problems.push(fieldProblem(pointer, code, message));
    if (this.#problems.length >= TEMPLATE_LIMITS.problems) this.#stopped = true;
  }

  #countPlaceholder(source: string, pointer: string): boolean {
    if (this.#stopped) return false;
    this.#left.placeholders -= 1;
    this.#left.expressionCharacters -= source.length;
    if (this.#left.placeholders >= 0 && this.#left.expressionCharacters >= 0) return true;
    return this.#stop(pointer, 'The template has too many or too long placeholders.');
  }

  /** Counts a value or a key against the template's size; false ends the compilation. */
  #countPart({ pointer, depth }: TemplatePart, characters: number): boolean {
    this.#left.values -= 1;
    this.#left.characters -= characters;
    if (this.#stopped) return false;
    if (this.#left.values >= 0 && this.#left.characters >= 0 && depth <= MAX_DEPTH) return true;
    return this.#stop(pointer, 'The template is too large or nested too deeply.');
  }

  #stop(pointer: string, message: string): false {
    this.#complain(pointer, 'template_too_large', message);
    this.#stopped = true;
    return false;
  }
}

/** Sorted by the keys as they are written, in UTF-16 code units. */
function inOrderOfKeys<T>(keys: readonly string[], entries: readonly T[]): T[] {
  const order = keys.map((key, index) => ({ key, index })).sort((a, b) => (a.key < b.key ? -1 : 1));
  return order.flatMap(({ index }) => entries.slice(index, index + 1));
}

function joined(
  pieces: readonly Piece[],
  run: TemplateRun,
  write: (value: CelValue, run: TemplateRun) => string,
): string {
  let text = '';
  for (const piece of pieces) {
    text += typeof piece === 'string' ? piece : write(run.valueOf(piece), run);
    if (text.length > run.charactersLeft) tooLarge();
  }
  return run.toText(text);
}

/** Inside longer text: texts as they are, numbers in digits, null, lists and objects as JSON. */
function insideText(value: CelValue, run: TemplateRun): string {
  if (Array.isArray(value) || isMap(value)) {
    const json = run.toJson(value, 0);
    const text = run.frame.evaluator === 1 ? JSON.stringify(json) : canonicalJson(json);
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

/** "Line 2, column 7" of an offset in a text; both count from 1. */
export function positionIn(text: string, offset: number): string {
  let line = 1;
  let lineBreak = -1;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) {
    line += 1;
    lineBreak = at;
  }
  return `Line ${line}, column ${offset - lineBreak}`;
}
