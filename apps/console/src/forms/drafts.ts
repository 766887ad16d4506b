import type { JsonObject } from '@orrery/sdk';
import type { Problem } from '../ui/messages.js';
import { below } from '../ui/messages.js';
import { numberIn, whyNoNumber } from '../ui/typed-text.js';
import type { Bounds, Field, FieldOf, Member, ObjectField } from './form-model.js';
import { isObject } from './json.js';

/**
 * What a form holds while it is filled in: texts of the controls, in the shape of its fields. `undefined`: absent. A
 * choice is the JSON of its value; a number and a JSON field are text until they are read. The empty text of a text field
 * is a value, which a document or a default has; of the others it is absent.
 */
export type Draft = undefined | string | boolean | readonly Draft[] | { readonly [name: string]: Draft };
export type ObjectDraft = { readonly [name: string]: Draft };

/** What is wrong with an input, by the pointer of the value. */
export type Problems = ReadonlyMap<string, string>;

export const problemMap = (problems: readonly Problem[]): Problems =>
  new Map(problems.map(({ pointer, message }) => [pointer, message]));

/** What a form does with a kind of field. */
interface Kind<F extends Field> {
  /** The draft of a new value. */
  empty: (field: F) => Draft;
  /** The draft of a value that stands in a document; undefined where the form cannot show it. */
  draftOf: (field: F, value: unknown) => Draft;
  /** The value of a draft that is not empty. */
  read: (field: F, draft: Draft, at: string, problems: Collected) => unknown;
}

const KINDS: { readonly [K in Field['kind']]: Kind<FieldOf<K>> } = {
  text: {
    empty: () => undefined,
    draftOf: (_field, value) => (typeof value === 'string' ? value : undefined),
    read: ({ bounds }, draft, at, problems) => {
      // The service counts characters, not the UTF-16 units of `length`.
      note(problems, at, whyOutside([...String(draft)].length, bounds, 'characters'));
      return String(draft);
    },
  },
  number: {
    empty: () => '',
    draftOf: (_field, value) => (typeof value === 'number' ? String(value) : undefined),
    read: ({ isWhole, bounds }, draft, at, problems) => {
      const number = numberIn(String(draft), isWhole);
      if (number === undefined) note(problems, at, whyNoNumber(String(draft), isWhole) ?? 'Give a number.');
      else note(problems, at, whyOutside(number, bounds));
      return number;
    },
  },
  boolean: {
    empty: () => false,
    draftOf: (_field, value) => (typeof value === 'boolean' ? value : undefined),
    read: (_field, draft) => draft,
  },
  choice: {
    empty: ({ options }) => (options.length === 1 ? JSON.stringify(options[0]) : ''),
    draftOf: ({ options }, value) =>
      options.map((option) => JSON.stringify(option)).find((one) => one === JSON.stringify(value)),
    read: (_field, draft) => JSON.parse(String(draft)),
  },
  json: {
    empty: () => '',
    draftOf: (_field, value) => JSON.stringify(value),
    read: (_field, draft, at, problems) => {
      try {
        return JSON.parse(String(draft));
      } catch (error) {
        note(problems, at, `This is not JSON: ${(error as Error).message}. A text stands in quotes.`);
        return undefined;
      }
    },
  },
  list: {
    empty: () => [],
    draftOf: ({ item }, value) => {
      const items = Array.isArray(value) ? value.map((one) => draftOf(item, one)) : [undefined];
      return items.includes(undefined) ? undefined : items;
    },
    read: ({ item, bounds }, draft, at, problems) => {
      const items = draft as readonly Draft[];
      note(problems, at, whyOutside(items.length, bounds, 'items'));
      return items.map((one, index) => readItem(item, one, below(at, index), problems));
    },
  },
  object: {
    empty: (field) => emptyObject(field),
    draftOf: (field, value) => objectDraft(field, value),
    read: (field, draft, at, problems) => readObject(field, draft as ObjectDraft, at, problems),
  },
};
const kindOf = (field: Field) => KINDS[field.kind] as Kind<Field>;

export const emptyDraft = (field: Field): Draft => kindOf(field).empty(field);

export const draftOf = (field: Field, value: unknown): Draft => kindOf(field).draftOf(field, value);

/** What a field starts with: its default, else nothing where it may be absent. */
export function initialDraft(field: Field, isRequired: boolean): Draft {
  if (field.initial !== undefined) return draftOf(field, field.initial) ?? emptyDraft(field);
  return isRequired ? emptyDraft(field) : undefined;
}

export const emptyObject = ({ members }: ObjectField): ObjectDraft =>
  Object.fromEntries(members.map(({ name, field, isRequired }) => [name, initialDraft(field, isRequired)]));

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
  if (draft === undefined || (draft === '' && field.kind !== 'text')) {
    if (isRequired) problems.set(at, field.kind === 'choice' ? 'Choose one.' : 'Give a value.');
    return undefined;
  }
  return kindOf(field).read(field, draft, at, problems);
}

/** An item was added by hand: an empty text is meant. */
const readItem = (field: Field, draft: Draft, at: string, problems: Collected): unknown => {
  const given = field.kind === 'text' ? (draft ?? '') : draft;
  return readMember({ name: '', isRequired: true, field }, given, at, problems);
};

function note(problems: Collected, at: string, problem: string | undefined): void {
  if (problem !== undefined) problems.set(at, problem);
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
