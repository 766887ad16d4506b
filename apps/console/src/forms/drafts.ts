import type { JsonObject } from '@orrery/sdk';
import type { Problem } from '../ui/messages.js';
import { below } from '../ui/messages.js';
import { numberIn, whyNoNumber } from '../ui/typed-text.js';
import type { Bounds, Field, ListField, Member, NumberField, ObjectField, TextField } from './form-model.js';
import { isObject } from './json.js';

/**
 * What a form holds while it is filled in: texts of the controls, in the shape of its fields. `undefined`: absent. A
 * choice is the JSON of its value; a number and a JSON field are text until they are read.
 */
export type Draft = undefined | string | boolean | readonly Draft[] | { readonly [name: string]: Draft };
export type ObjectDraft = { readonly [name: string]: Draft };

/** What is wrong with an input, by the pointer of the value. */
export type Problems = ReadonlyMap<string, string>;

export const problemMap = (problems: readonly Problem[]): Problems =>
  new Map(problems.map(({ pointer, message }) => [pointer, message]));

/** What a field starts with: its default, else nothing where it may be absent. */
export function initialDraft(field: Field, isRequired: boolean): Draft {
  if (field.initial !== undefined) return draftOf(field, field.initial) ?? emptyDraft(field);
  return isRequired ? emptyDraft(field) : undefined;
}

export function emptyDraft(field: Field): Draft {
  switch (field.kind) {
    case 'object':
      return emptyObject(field);
    case 'list':
      return [];
    case 'boolean':
      return false;
    case 'choice':
      return field.options.length === 1 ? JSON.stringify(field.options[0]) : '';
    default:
      return '';
  }
}

export const emptyObject = ({ members }: ObjectField): ObjectDraft =>
  Object.fromEntries(members.map(({ name, field, isRequired }) => [name, initialDraft(field, isRequired)]));

/** The draft of a value that stands in a document; undefined where the form cannot show it. */
export function draftOf(field: Field, value: unknown): Draft {
  switch (field.kind) {
    case 'text':
      return typeof value === 'string' ? value : undefined;
    case 'number':
      return typeof value === 'number' ? String(value) : undefined;
    case 'boolean':
      return typeof value === 'boolean' ? value : undefined;
    case 'choice':
      return field.options
        .map((option) => JSON.stringify(option))
        .find((one) => one === JSON.stringify(value));
    case 'json':
      return JSON.stringify(value);
    case 'list':
      return listDraft(field, value);
    case 'object':
      return objectDraft(field, value);
  }
}

function listDraft({ item }: ListField, value: unknown): Draft {
  if (!Array.isArray(value)) return undefined;
  const items = value.map((one) => draftOf(item, one));
  return items.includes(undefined) ? undefined : items;
}

/** The draft of an object; undefined where it has a member that the form cannot show. */
export function objectDraft({ members }: ObjectField, value: unknown): ObjectDraft | undefined {
  if (!isObject(value)) return undefined;
  const byName = new Map(members.map((member) => [member.name, member.field]));
  const draft: Record<string, Draft> = Object.fromEntries(members.map(({ name }) => [name, undefined]));
  for (const [name, member] of Object.entries(value)) {
    const field = byName.get(name);
    const shown = field && draftOf(field, member);
    if (shown === undefined) return undefined;
    draft[name] = shown;
  }
  return draft;
}

/** The input that a draft stands for, and what cannot be read in it. Further rules are the service's. */
export function readDraft(root: ObjectField, draft: ObjectDraft): { value: JsonObject; problems: Problems } {
  const problems = new Map<string, string>();
  return { value: readObject(root, draft, '', problems), problems };
}

type Collected = Map<string, string>;

function readObject(field: ObjectField, draft: ObjectDraft, at: string, problems: Collected): JsonObject {
  const value: JsonObject = {};
  for (const member of field.members) {
    const read = readMember(member, draft[member.name], below(at, member.name), problems);
    if (read !== undefined) value[member.name] = read;
  }
  return value;
}

function readMember({ field, isRequired }: Member, draft: Draft, at: string, problems: Collected): unknown {
  // A text that begins empty may be empty; another one was forgotten.
  const isGiven = field.kind === 'text' && isRequired && field.initial === '';
  if (draft === undefined || (draft === '' && !isGiven)) {
    if (isRequired) problems.set(at, field.kind === 'choice' ? 'Choose one.' : 'Give a value.');
    return undefined;
  }
  return readValue(field, draft, at, problems);
}

/** An item was added by hand: an empty text is meant. */
const readItem = (field: Field, draft: Draft, at: string, problems: Collected): unknown =>
  field.kind === 'text' && draft === ''
    ? readText(field, '', at, problems)
    : readMember({ name: '', isRequired: true, field }, draft, at, problems);

function readValue(field: Field, draft: Draft, at: string, problems: Collected): unknown {
  switch (field.kind) {
    case 'object':
      return readObject(field, (draft ?? {}) as ObjectDraft, at, problems);
    case 'list':
      return readList(field, (draft ?? []) as readonly Draft[], at, problems);
    case 'text':
      return readText(field, String(draft), at, problems);
    case 'number':
      return readNumber(field, String(draft), at, problems);
    case 'choice':
      return JSON.parse(String(draft));
    case 'json':
      return readJson(String(draft), at, problems);
    default:
      return draft;
  }
}

function readNumber(field: NumberField, text: string, at: string, problems: Collected): number | undefined {
  const number = numberIn(text, field.isWhole);
  if (number === undefined) note(problems, at, whyNoNumber(text, field.isWhole) ?? 'Give a number.');
  else note(problems, at, whyOutside(number, field.bounds));
  return number;
}

function readText({ bounds }: TextField, text: string, at: string, problems: Collected): string {
  // The service counts characters, not the UTF-16 units of `length`.
  note(problems, at, whyOutside([...text].length, bounds, 'characters'));
  return text;
}

function readList(field: ListField, items: readonly Draft[], at: string, problems: Collected): unknown[] {
  note(problems, at, whyOutside(items.length, field.bounds, 'items'));
  return items.map((item, index) => readItem(field.item, item, below(at, index), problems));
}

function note(problems: Collected, at: string, problem: string | undefined): void {
  if (problem !== undefined) problems.set(at, problem);
}

function readJson(text: string, at: string, problems: Collected): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    problems.set(at, `This is not JSON: ${(error as Error).message}. A text stands in quotes.`);
    return undefined;
  }
}

/** What is said of a number outside its bounds; undefined within them. `unit`: what it counts, such as characters. */
function whyOutside(number: number, bounds: Bounds = {}, unit = ''): string | undefined {
  const { least, most, above, below } = bounds;
  const say = (words: string, bound: number) => `${`Give ${words} ${bound} ${unit}`.trim()}.`;
  if (least !== undefined && number < least) return say('at least', least);
  if (most !== undefined && number > most) return say('at most', most);
  if (above !== undefined && number <= above) return say('more than', above);
  if (below !== undefined && number >= below) return say('less than', below);
  return undefined;
}
