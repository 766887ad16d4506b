import { isJsonObject, type JsonObject, toPointer } from '@orrery/contracts';
import { MOST_ANSWERED } from './tool-results.js';

/**
 * The answer of what was done or paid for: however large it is, it is no refusal, after which a model would do it again. Its
 * longest members are left out until an agent may have the rest, and are named.
 */
export function answerOfDone(answer: JsonObject): JsonObject {
  const leftOut = tooMuchOf(answer);
  if (leftOut.length === 0) return answer;
  const rest = without(answer, new Set(leftOut));
  return { ...rest, message: [answer['message'], LEFT_OUT].filter(Boolean).join(' '), leftOut };
}

const LEFT_OUT =
  `This was done. Its answer has more than ${MOST_ANSWERED / 1024} KiB, which no agent is sent at once, so what leftOut ` +
  'names is missing: tools that read have what was stored, and HTTP has the whole answer.';

/** What to leave out, as JSON Pointers, the longest first. */
function tooMuchOf(answer: JsonObject): string[] {
  let length = JSON.stringify(answer).length;
  const leftOut: string[] = [];
  for (const member of membersOf(answer).sort((a, b) => b.length - a.length)) {
    if (length <= MOST_ANSWERED) break;
    length -= member.length;
    leftOut.push(member.pointer);
  }
  return leftOut;
}

/** Members whose own members are left out one by one. */
const OPENED: ReadonlySet<string> = new Set(['data', 'entry', 'llm']);

function membersOf(of: JsonObject, path: readonly string[] = []): { pointer: string; length: number }[] {
  return Object.entries(of).flatMap(([name, value]) => {
    const at = [...path, name];
    if (OPENED.has(name) && isJsonObject(value)) return membersOf(value, at);
    return [{ pointer: toPointer(at), length: JSON.stringify(value).length }];
  });
}

function without(of: JsonObject, leftOut: ReadonlySet<string>, path: readonly string[] = []): JsonObject {
  const kept = Object.entries(of).flatMap(([name, value]) => {
    const at = [...path, name];
    if (leftOut.has(toPointer(at))) return [];
    return [[name, isJsonObject(value) && OPENED.has(name) ? without(value, leftOut, at) : value] as const];
  });
  return Object.fromEntries(kept);
}
