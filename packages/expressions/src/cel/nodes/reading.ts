import type { ASTNode } from '@marcbachmann/cel-js';
import { didYouMean, spaceAround } from '@orrery/contracts';
import { quoted } from '../../messages/error-text.js';
import { nameHint, sizeHint } from '../hints/other-languages.js';
import {
  type CelMap,
  CelType,
  type CelValue,
  fail,
  isInt64,
  isMap,
  isNumber,
  keyToText,
  ownKey,
  spend,
  spendOnKey,
  TYPE_NAMES,
  wordFor,
} from '../values/cel-value.js';
import type { Telling } from '../values/telling.js';
import {
  type CompileContext,
  type Expression,
  ExpressionFault,
  type Frame,
  fault,
  type NodeOf,
} from './compile-context.js';

/** A literal. `uint` and `bytes` do not exist in JSON and are refused. */
export function compileValue(node: NodeOf<'value'>): Expression {
  const value = node.args;
  if (typeof value === 'object' && value !== null)
    return fault('unsupported', 'Unsigned integers (1u) and bytes (b"…") are not supported.', node);
  if (typeof value === 'bigint' && !isInt64(value))
    return fault('template_syntax', 'The whole number does not fit 64 bits.', node);
  return () => value;
}

/** A macro's variable, a declared name, or a type. */
export function compileName(node: NodeOf<'id'>, context: CompileContext): Expression {
  const name = node.args;
  const slot = context.locals.lastIndexOf(name);
  if (slot >= 0) return (frame) => frame.locals[slot] ?? null;
  if (context.names.has(name)) return readName(name);
  if (!TYPE_NAMES.has(name)) return fault('unknown_name', unknownName(name, context), node);
  const type = new CelType(name);
  return () => type;
}

function readName(name: string): Expression {
  return ({ scope }) => {
    const value = Object.hasOwn(scope, name) ? scope[name] : undefined;
    if (value === undefined) return fail(`The name "${name}" has no value here.`);
    return value as CelValue;
  };
}

function unknownName(name: string, { names, locals }: CompileContext): string {
  const known = [...locals, ...names];
  const hint = nameHint(name);
  const meant = hint === undefined ? didYouMean(name, known) : ` ${hint}`;
  return `The name "${name}" is not known.${meant} Known here: ${known.join(', ')}.`;
}

/** `a.b` */
export function compileMember(node: NodeOf<'.'>, context: CompileContext): Expression {
  const [target, key] = node.args;
  const read = context.compile(target, context);
  const hint = sizeHint(key, textOf(target)) || loopHint(target, context);
  const owner = { ...ownerOf(target, context), isWritten: true, hint };
  return (frame) => memberOf(frame, read(frame), key, owner);
}

/** `a["b"]`, `a[0]` */
export function compileIndex(node: NodeOf<'[]'>, context: CompileContext): Expression {
  const target = context.compile(node.args[0], context);
  const index = context.compile(node.args[1], context);
  const isWritten = writtenKey(node) !== undefined;
  const owner = { ...ownerOf(node.args[0], context), isWritten };
  return (frame) => elementOf(frame, target(frame), index(frame), owner);
}

/** What is being read, as far as the expression's text says: a failure names it. */
interface Owner {
  readonly kind: 'input' | 'entities' | 'schema' | 'instance' | 'other';
  /** The schema's name, where it is written out. */
  readonly schema?: string | undefined;
  /** The key that is read stands in the expression. */
  readonly isWritten?: boolean;
  /** What to write where nothing has the key: text to follow a sentence. */
  readonly hint?: string;
}

/** Loops over the instances of a schema have their ids in the variable. */
const loopHint = (target: ASTNode, { locals }: CompileContext): string =>
  target.op === 'id' && locals.includes(target.args)
    ? ' A loop over an object goes over its keys, as in "entities.horse.filter(id, entities.horse[id].wins > 1)".'
    : '';

const textOf = ({ input, start, end }: ASTNode): string => input.slice(start, end);

const OTHER: Owner = { kind: 'other' };

function ownerOf(node: ASTNode, context: CompileContext): Owner {
  if (node.op === 'id') {
    const isOwn = context.names.has(node.args) && !context.locals.includes(node.args);
    return isOwn && (node.args === 'input' || node.args === 'entities') ? { kind: node.args } : OTHER;
  }
  if (node.op !== '.' && node.op !== '[]') return OTHER;
  const { kind, schema } = ownerOf(node.args[0], context);
  if (kind === 'schema') return { kind: 'instance', schema };
  return kind === 'entities' ? { kind: 'schema', schema: writtenKey(node) } : OTHER;
}

/** The key of `a.b` or `a["b"]`; undefined where it is computed. */
export function writtenKey(node: NodeOf<'.'> | NodeOf<'[]'>): string | undefined {
  const [, key] = node.args;
  if (typeof key === 'string') return key;
  const value = key.op === 'value' ? key.args : undefined;
  return typeof value === 'string' || isNumber(value as CelValue) ? String(value) : undefined;
}

/** A missing key is a failure: `has()` guards. */
function memberOf(frame: Frame, target: CelValue, key: string, owner: Owner): CelValue {
  if (!isMap(target))
    return fail(
      (telling) =>
        `Cannot read ${shownKey(key, owner, telling)} of ${wordFor(target)}.${telling.advice(() => owner.hint ?? '')}`,
    );
  const own = ownKey(frame, target, key);
  const value = own === undefined ? undefined : target[own];
  return value === undefined ? fail((telling) => absence(target, key, owner, telling)) : value;
}

const shownKey = (key: string, { isWritten }: Owner, { written, computed }: Telling): string =>
  isWritten ? written(key) : computed(key);

function absence(target: CelMap, key: string, owner: Owner, telling: Telling): string {
  const advice = telling.advice(() => {
    const hint = key.trim() === key ? didYouMean(key, Object.keys(target)) : ` ${spaceAround(key)}`;
    return owner.kind === 'schema' && hint === '' ? (owner.hint ?? '') : hint;
  });
  const schema = owner.schema === undefined ? undefined : telling.written(owner.schema);
  return `${ABSENCES[owner.kind](shownKey(key, owner, telling), schema)}${advice}`;
}

const ABSENCES: Readonly<Record<Owner['kind'], (key: string, schema: string | undefined) => string>> = {
  input: (key) => `The input has no ${key}.`,
  entities: (key) => `Nothing was read of the entity schema ${key}: readEntities does not name it.`,
  schema: (key, schema) =>
    `No instance ${key}${schema === undefined ? '' : ` of ${schema}`} was read: ` +
    'it does not exist, or no filter of readEntities selects it.',
  instance: (key, schema) =>
    schema === undefined ? `The instance has no ${key}.` : `The instance of ${schema} has no ${key}.`,
  other: (key) => `There is no ${key}.`,
};

function elementOf(frame: Frame, target: CelValue, index: CelValue, owner: Owner): CelValue {
  if (typeof target === 'string' && isNumber(index))
    return fail(
      ({ computed, advice }) =>
        `Cannot read "${computed(index)}" of text.${advice(() => ` Write "charAt(${index})" for a character.`)}`,
    );
  if (!Array.isArray(target))
    return memberOf(frame, target, isMap(target) ? keyToText(index) : shownIndex(index), owner);
  if (!isNumber(index) || !Number.isInteger(Number(index)))
    return fail('A list is indexed by a whole number.');
  const element = target[Number(index)];
  if (element !== undefined) return element;
  const last = Number(index) < 0 ? ' The last one is "list[size(list) - 1]".' : '';
  return fail(({ computed }) => `The list of ${target.length} has no element ${computed(index)}.${last}`);
}

const shownIndex = (index: CelValue): string =>
  typeof index === 'string' || isNumber(index) ? keyToText(index) : 'an element';

/**
 * `has(a.b)`: whether the last key is present. The keys before it must be present. Beyond CEL, `has(a["b-c"])` works too,
 * for names that are no identifiers. A key whose value is null is present.
 */
export function compileHas(node: NodeOf<'call'>, context: CompileContext): Expression {
  const [field] = node.args[1];
  if (field?.op !== '.' && field?.op !== '[]')
    return fault('template_syntax', 'The macro has() takes a field, as in has(input.name).', node);
  const target = context.compile(field.args[0], context);
  const key = field.op === '.' ? constant(field.args[1]) : context.compile(field.args[1], context);
  return (frame) => {
    const object = target(frame);
    if (!isMap(object)) return fail(`The macro has() looks into an object, not ${wordFor(object)}.`);
    return ownKey(frame, object, keyToText(key(frame))) !== undefined;
  };
}

const constant =
  (text: string): Expression =>
  () =>
    text;

/** `[a, b]` */
export function compileList(node: NodeOf<'list'>, context: CompileContext): Expression {
  const items = node.args.map((item) => context.compile(item, context));
  return (frame) => items.map((item) => item(frame));
}

/** `{"a": 1}`: keys become text, as in JSON; the same key twice is a failure. */
export function compileMap(node: NodeOf<'map'>, context: CompileContext): Expression {
  const entries = node.args.map(
    ([key, value]) => [compileKey(key, context), context.compile(value, context)] as const,
  );
  return (frame) => buildMap(entries, frame);
}

/** `{a: 1}` of JavaScript reads its key from a name. */
function compileKey(key: ASTNode, context: CompileContext): Expression {
  try {
    return context.compile(key, context);
  } catch (error) {
    if (key.op !== 'id' || !(error instanceof ExpressionFault)) throw error;
    return fault(error.code, `${error.message} A key is a text: write "{"${quoted(key.args)}": …}".`, key);
  }
}

/** To make an entry costs more than to read one. */
const ENTRY_COST = 2;

function buildMap(entries: readonly (readonly [Expression, Expression])[], frame: Frame): CelMap {
  const map: CelMap = Object.create(null);
  for (const [readKey, readValue] of entries) {
    const key = keyToText(readKey(frame));
    spend(frame, ENTRY_COST);
    spendOnKey(frame, key);
    if (Object.hasOwn(map, key))
      fail(({ computed }) => `The key ${computed(key)} appears twice in one object.`);
    map[key] = readValue(frame);
  }
  return map;
}
