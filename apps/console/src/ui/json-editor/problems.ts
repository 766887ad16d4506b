import { jsonLanguage } from '@codemirror/lang-json';
import { stepsOf } from '../messages.js';

export interface EditorProblem {
  /** RFC 6901 into the text; empty for all of it. */
  readonly pointer: string;
  readonly message: string;
}

interface Position {
  readonly from: number;
  readonly to: number;
}

type Node = ReturnType<typeof jsonLanguage.parser.parse>['topNode'];

/**
 * Where in a JSON text a pointer leads: the value; of a member that is missing, the object it is missing in. The text
 * may be unfinished.
 */
export function positionOf(text: string, pointer: string): Position {
  const top = jsonLanguage.parser.parse(text).topNode;
  let at = top.firstChild ?? top;
  for (const step of stepsOf(pointer)) {
    const next = childOf(at, step, text);
    if (next === undefined) break;
    at = next;
  }
  return { from: at.from, to: at.to };
}

function childOf(node: Node, step: string, text: string): Node | undefined {
  if (node.name === 'Array') return valuesIn(node)[Number(step)];
  if (node.name !== 'Object') return undefined;
  const property = node.getChildren('Property').find((one) => nameOf(one, text) === step);
  return property === undefined ? undefined : (property.lastChild ?? property);
}

function valuesIn(array: Node): Node[] {
  const values: Node[] = [];
  for (let child = array.firstChild; child !== null; child = child.nextSibling)
    if (/^[A-Z]/.test(child.name)) values.push(child);
  return values;
}

function nameOf(property: Node, text: string): string | undefined {
  const name = property.getChild('PropertyName');
  if (name === null) return undefined;
  try {
    return JSON.parse(text.slice(name.from, name.to)) as string;
  } catch {
    return undefined;
  }
}
