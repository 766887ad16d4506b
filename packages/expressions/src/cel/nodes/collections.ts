import type { ASTNode } from '@marcbachmann/cel-js';
import { quoted } from '../../messages/error-text.js';
import { type CelMap, keyToText, spendOnKey } from '../values/cel-value.js';
import { fail, spend } from '../values/evaluation.js';
import {
  type CompileContext,
  type Expression,
  ExpressionFault,
  type Frame,
  fault,
  type NodeOf,
} from './compile-context.js';

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
    if (Object.hasOwn(map, key)) fail(`The key "${quoted(key)}" appears twice in one object.`);
    map[key] = readValue(frame);
  }
  return map;
}
