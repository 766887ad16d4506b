import {
  findUnsafeJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  utf8Bytes,
  type VersionDefinition,
} from '@orrery/contracts';
import { type ChangeKey, isDeletion, parseMutation, splitChangeKey } from '@orrery/expressions';
import { sameJson } from '../entries/entry.js';
import { MAX_CHANGES } from '../execution/apply-proposal.js';
import { excessIn } from './json-bounds.js';
import { loadedState, type StrictForm, UnreadableAnswer } from './strict-form.js';

/** What a model answered, as its server's message says. */
export interface ModelMessage {
  readonly content: string | null;
  readonly finishReason: string | null;
  readonly refusal: string | null;
  readonly hasToolCalls: boolean;
}

type AnswerFault =
  | 'cut_off'
  | 'refused'
  | 'tool_call'
  | 'empty'
  | 'too_large'
  | 'not_json'
  | 'repeated_key'
  | 'unsafe_json'
  | 'wrong_form'
  | 'not_allowed';

export type Reading =
  | { readonly ok: true; readonly mutation: JsonObject }
  | {
      readonly ok: false;
      readonly fault: AnswerFault;
      /** For the model; it may quote its answer. */
      readonly reason: string;
      /** The answer has the strict form, with a fault in it. */
      readonly isStrict?: true;
    };

interface ReadingContext {
  readonly definition: VersionDefinition;
  readonly entities: JsonObject;
  /** The strict form, where it was asked for. */
  readonly strictForm: StrictForm | null;
  /** It stands in an entry: earlier releases took larger ones. */
  readonly isKept?: true;
}

/** Bytes of an answer's text: an entry's changes and result have at most half as many. */
const MAX_CONTENT_BYTES = 512 * 1024;
const MAX_KEPT_BYTES = 1024 * 1024;

const fault = (kind: AnswerFault, reason: string): Reading => ({ ok: false, fault: kind, reason });

/**
 * Reads an answer as a mutation in its plain form, or says what is wrong with it. One Markdown fence around the answer is
 * removed; nothing else is repaired, because a repaired answer can be valid and wrong. Never throws.
 */
export function readAnswer(message: ModelMessage, context: ReadingContext): Reading {
  const { content, finishReason, refusal, hasToolCalls } = message;
  if (finishReason === 'length')
    return fault('cut_off', 'The answer was cut off at the limit of tokens. Answer shorter.');
  if (refusal !== null || finishReason === 'content_filter')
    return fault('refused', 'The answer was a refusal.');
  if (hasToolCalls) return fault('tool_call', 'There are no tools to call. Answer with the JSON object.');
  if (content === null || content.trim() === '') return fault('empty', 'The answer was empty.');
  const most = context.isKept ? MAX_KEPT_BYTES : MAX_CONTENT_BYTES;
  if (utf8Bytes(content) > most) return fault('too_large', `The answer may have at most ${most} bytes.`);
  return readText(content, context);
}

function readText(content: string, context: ReadingContext): Reading {
  const json = withoutFence(content);
  const excess = context.isKept ? undefined : excessIn(json, context.strictForm !== null);
  if (excess !== undefined) return fault('unsafe_json', `The answer: ${excess}.`);
  let answer: JsonValue;
  try {
    answer = parseJson(json);
  } catch {
    return fault('not_json', 'The answer is not one JSON object and nothing else.');
  }
  const repeated = findRepeatedKey(json);
  if (repeated !== undefined)
    return fault(
      'repeated_key',
      `The key ${JSON.stringify(repeated)} appears twice in one object. Give each key once.`,
    );
  const unsafe = findUnsafeJson(answer);
  if (unsafe !== undefined)
    return fault('unsafe_json', `${unsafe.pointer || 'The answer'}: ${unsafe.message}`);
  if (!isJsonObject(answer)) return fault('wrong_form', 'The answer must be a JSON object.');
  return readMutation(answer, context);
}

const FENCE = '```';

/** The text inside one Markdown fence that stands around all of it; any other text as it is. */
export function withoutFence(content: string): string {
  const text = content.trim();
  const start = text.indexOf('\n');
  if (!text.startsWith(FENCE) || !text.endsWith(FENCE) || start < 0) return text;
  const isInfo = /^[a-z0-9+-]*$/i.test(text.slice(FENCE.length, start).trim());
  const end = text.length - FENCE.length;
  return isInfo && end > start ? text.slice(start + 1, end) : text;
}

function readMutation(answer: JsonObject, context: ReadingContext): Reading {
  const { strictForm, entities } = context;
  try {
    const mutation = strictForm !== null && isStrict(answer) ? strictForm.read(answer, entities) : answer;
    const problem = problemOf(mutation, context);
    return problem === undefined ? { ok: true, mutation } : problem;
  } catch (error) {
    if (error instanceof UnreadableAnswer)
      return { ok: false, fault: 'wrong_form', reason: `${error.message}.`, isStrict: true };
    throw error;
  }
}

/** Whether an answer has the strict form: the plain form has objects where the strict one has lists. */
function isStrict({ stateChanges, ...others }: JsonObject): boolean {
  if (Object.keys(others).some((key) => key !== 'result')) return false;
  return (
    stateChanges === undefined ||
    (isJsonObject(stateChanges) && !Object.values(stateChanges).some(isJsonObject))
  );
}

function problemOf(mutation: JsonObject, context: ReadingContext): Reading | undefined {
  if (hasTooManyChanges(mutation))
    return fault('not_allowed', `One execution changes at most ${MAX_CHANGES} instances.`);
  const parsed = parseMutation(mutation);
  if (!parsed.ok) {
    const lines = parsed.problems.map(({ pointer, message }) => `${pointer || 'The answer'}: ${message}`);
    return fault('wrong_form', lines.join('\n'));
  }
  for (const [key, change] of Object.entries(parsed.mutation.stateChanges)) {
    const complaint = isDeletion(change) ? undefined : changeProblem(key, change, context);
    if (complaint !== undefined) return fault('not_allowed', complaint);
  }
  return undefined;
}

/** The changes are the mutation itself or its `stateChanges`. */
const hasTooManyChanges = (mutation: JsonObject): boolean =>
  [mutation, mutation['stateChanges']].some(
    (changes) => isJsonObject(changes) && Object.keys(changes).length > MAX_CHANGES,
  );

function changeProblem(key: string, change: JsonObject, context: ReadingContext): string | undefined {
  const name = splitChangeKey(key);
  for (const [attribute, value] of Object.entries(change)) {
    const problem = attributeProblem({ key, name }, attribute, value, context);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function attributeProblem(
  { key, name }: { readonly key: string; readonly name: ChangeKey | undefined },
  attribute: string,
  value: JsonValue,
  { definition: { schemas }, entities }: ReadingContext,
): string | undefined {
  // A state may hold what its schema no longer names, or what looks like an operator; a full change repeats it.
  if (sameJson(value, currentOf(entities, name, attribute))) return undefined;
  const operator = operatorIn(attribute, value);
  if (operator !== undefined)
    return `${key}: operators such as ${JSON.stringify(operator)} are not known. Give values as they are after the event.`;
  const schema = name?.schema ?? '';
  const attributes = Object.hasOwn(schemas, schema) ? (schemas[schema]?.attributes ?? []) : [];
  if (attributes.length === 0 || attributes.some((declared) => declared.name === attribute)) return undefined;
  return `${key}: the schema has no attribute ${JSON.stringify(attribute)}.`;
}

/** The operator that an attribute of a change looks like: `$…` as its name, or as the only member of its value. */
function operatorIn(attribute: string, value: JsonValue): string | undefined {
  const [only, ...others] = isJsonObject(value) ? Object.keys(value) : [];
  return [attribute, others.length === 0 ? only : undefined].find((name) => name?.startsWith('$'));
}

function currentOf(
  entities: JsonObject,
  name: ChangeKey | undefined,
  attribute: string,
): JsonValue | undefined {
  const state = name === undefined ? undefined : loadedState(entities, name.schema, name.instanceId);
  return state?.[attribute];
}

/** Texts, with the colon behind those that are keys, and the ends of objects and lists. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[{}[\]]/g;

/**
 * The first key that an object of a JSON text has twice: `JSON.parse` keeps the last value without a word, and nobody
 * knows which one was meant. The text must be valid JSON.
 */
export function findRepeatedKey(json: string): string | undefined {
  const objects: (Set<string> | undefined)[] = [];
  for (const [token, colon] of json.matchAll(TOKENS)) {
    if (token === '{') objects.push(new Set());
    else if (token === '[') objects.push(undefined);
    else if (token === '}' || token === ']') objects.pop();
    else if (colon !== undefined) {
      const keys = objects.at(-1);
      const key = JSON.parse(token.slice(0, -colon.length)) as string;
      if (keys?.has(key)) return key;
      keys?.add(key);
    }
  }
  return undefined;
}
