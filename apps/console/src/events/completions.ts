import type { Attribute, EntitySchema } from '../api/records.js';
import { isObject } from '../forms/json.js';
import { placeIn } from '../ui/json-editor/json-place.js';

/** What can be written at a place. */
export interface Completion {
  readonly label: string;
  readonly detail?: string;
}

export interface Completions {
  /** Where what is completed begins. */
  readonly from: number;
  readonly options: readonly Completion[];
}

/** What an editor completes: a template, what follows, or the input of a schedule. */
export type Completed = 'template' | 'followUps' | 'cron';
/** A condition over the instances of a schema is no JSON. */
type Expression = Completed | 'where';

/** What is known where one types. */
export interface KnownNames {
  /** Members of the input. */
  readonly input: readonly string[];
  readonly schemas: readonly Pick<EntitySchema, 'name' | 'attributes'>[];
  readonly events: readonly string[];
  /** Of a condition: whose instances it is about. */
  readonly schema?: string;
}

/** Names of templates (docs/templates.md). */
export const NAMES: Readonly<Record<string, string>> = {
  input: "the execution's input",
  entities: 'what was read: schema, instance, attribute',
  history: 'what the execution remembers',
  walletAddress: 'who signed a public execution, or null',
  timestamp: 'the time of the execution',
  date: 'its date',
  unix: 'its seconds since 1970',
  deployment: "the deployment's address",
  event: "the event's name",
  world: "the world's address",
};

/** Further ones of the input of a schedule, which has neither input nor entities nor history. */
export const CRON_NAMES: Readonly<Record<string, string>> = {
  counter: 'the number of this occurrence',
  cronState: 'counter, scheduledAt and result of the last run',
  scheduledAt: 'when it was due',
};

/** Names of conditions in what a version reads. */
const WHERE_NAMES: Readonly<Record<string, string>> = {
  instance: 'its attributes',
  id: 'its instance id',
  input: "the execution's input",
};

export const FUNCTIONS = [
  'has(',
  'size(',
  'int(',
  'double(',
  'string(',
  'bool(',
  'type(',
  'timestamp(',
  'duration(',
  'fail(',
  'cel.bind(',
  'math.greatest(',
  'math.least(',
  'math.abs(',
  'math.ceil(',
  'math.floor(',
  'math.round(',
  'math.trunc(',
  'math.sign(',
  'math.sqrt(',
] as const;

export const METHODS = [
  'all(',
  'exists(',
  'exists_one(',
  'filter(',
  'map(',
  'join(',
  'size(',
  'contains(',
  'startsWith(',
  'endsWith(',
  'substring(',
  'indexOf(',
  'lastIndexOf(',
  'charAt(',
  'split(',
  'replace(',
  'trim(',
  'lowerAscii(',
  'upperAscii(',
  'reverse(',
  'getHours(',
  'getDayOfWeek(',
] as const;

export const OPERATORS: Readonly<Record<string, string>> = {
  $set: 'this value, whatever it is',
  $increment: 'a number more, or less',
  $append: 'at the end of the list',
  $merge: 'these keys of the object',
  $unset: 'true: absent',
};

const FOLLOW_UP: Readonly<Record<string, string>> = {
  event: 'what is executed',
  input: 'its input, a template',
  after: 'how long it waits: PT90S',
  at: 'when it is due, in place of after',
  when: 'a placeholder: left out unless it is true',
  key: 'of which one timer is pending',
  cancel: 'the key of a timer to cancel',
};

/** What can stand at a position of a text; undefined where nothing is known. */
export function completionsAt(
  text: string,
  at: number,
  known: KnownNames,
  completed: Completed,
): Completions | undefined {
  const place = placeIn(text, at);
  if (place === undefined) return undefined;
  const typed = text.slice(place.from, at);
  const open = typed.lastIndexOf('{{');
  if (open > typed.lastIndexOf('}}')) return inExpression(typed.slice(open + 2), at, known, completed);
  const options = {
    template: () => ofTemplate(place.path, place.kind, known),
    followUps: () => ofFollowUp(place.path, place.kind, known),
    cron: () => [],
  }[completed]();
  return options.length === 0 ? undefined : { from: place.from, options };
}

/** The same of a condition over the instances of a schema. */
export const completionsOfCondition = (
  text: string,
  at: number,
  known: KnownNames,
  schema: string,
): Completions | undefined => inExpression(text.slice(0, at), at, { ...known, schema }, 'where');

const described = (words: Readonly<Record<string, string>>): Completion[] =>
  Object.entries(words).map(([label, detail]) => ({ label, detail }));

function inExpression(
  typed: string,
  at: number,
  known: KnownNames,
  completed: Expression,
): Completions | undefined {
  // What is within quotes is a text of the expression.
  if ((typed.match(/"/g) ?? []).length % 2 === 1) return undefined;
  const [, path = '', last = ''] = /((?:[A-Za-z_]\w*\.)*)(\w*)$/.exec(typed) ?? [];
  const from = at - last.length;
  const isMember = path !== '' || /[)\]]\.\w*$/.test(typed);
  if (!isMember)
    return { from, options: [...described(namesOf(completed)), ...FUNCTIONS.map((label) => ({ label }))] };
  if (path === 'math.' || path === 'cel.') {
    const own = FUNCTIONS.filter((name) => name.startsWith(path)).map((name) => ({
      label: name.slice(path.length),
    }));
    return { from, options: own };
  }
  const members = completed === 'cron' ? [] : membersOf(path, known);
  return { from, options: [...members, ...METHODS.map((label) => ({ label }))] };
}

function namesOf(completed: Expression): Readonly<Record<string, string>> {
  if (completed === 'template') return NAMES;
  if (completed === 'where') return WHERE_NAMES;
  if (completed === 'followUps') return { ...NAMES, result: "the execution's result" };
  const { input: _input, entities: _entities, history: _history, ...others } = NAMES;
  return { ...others, ...CRON_NAMES };
}

function membersOf(path: string, { input, schemas, schema: own }: KnownNames): Completion[] {
  if (path === 'input.') return input.filter(isName).map((label) => ({ label, detail: 'of the input' }));
  if (own !== undefined) return path === 'instance.' ? attributesOf(schemas, own) : [];
  if (path === 'entities.')
    return schemas
      .filter(({ name }) => isName(name))
      .map(({ name: label }) => ({ label, detail: 'what was read' }));
  const schema = /^entities\.(\w+)\.\w+\.$/.exec(path)?.[1];
  return attributesOf(schemas, schema);
}

const attributesOf = (schemas: KnownNames['schemas'], schema: string | undefined): Completion[] =>
  (schemas.find(({ name }) => name === schema)?.attributes ?? []).map(attributeOption);

/** Others are reached in brackets. */
const isName = (name: string): boolean => /^[A-Za-z_]\w*$/.test(name);

const attributeOption = ({ name: label, type: detail }: Attribute): Completion => ({ label, detail });

function ofTemplate(path: readonly string[], kind: 'key' | 'value', known: KnownNames): Completion[] {
  if (kind === 'value') return [];
  const [first = ''] = path;
  if (first === 'result') return [];
  const [instance, attribute, ...deeper] = first === 'stateChanges' ? path.slice(1) : path;
  if (deeper.length > 0) return [];
  if (attribute !== undefined) return described(OPERATORS);
  if (instance !== undefined) return ofInstance(instance, known);
  const parts =
    first === 'stateChanges' ? [] : described({ stateChanges: 'what it changes', result: 'what it answers' });
  return [...parts, ...instanceKeys(known)];
}

function ofInstance(instance: string, { schemas }: KnownNames): Completion[] {
  const schema = schemas.find(({ name }) => instance.startsWith(`${name}:`));
  return [
    ...(schema?.attributes ?? []).map(attributeOption),
    { label: '$delete', detail: 'true: the whole instance' },
  ];
}

/** An instance whose id is a member of the input, for each schema and member. */
const instanceKeys = ({ schemas, input }: KnownNames): Completion[] =>
  schemas.flatMap(({ name }) => [
    ...input
      .filter(isName)
      .map((member) => ({ label: `${name}:{{ input.${member} }}`, detail: 'named by the input' })),
    { label: `${name}:`, detail: 'then the instance id' },
  ]);

function ofFollowUp(path: readonly string[], kind: 'key' | 'value', { events }: KnownNames): Completion[] {
  if (kind === 'key') return path.length === 0 ? described(FOLLOW_UP) : [];
  return path.length === 1 && path[0] === 'event' ? events.map((label) => ({ label, detail: 'event' })) : [];
}

/** The members of a contract, in either notation, as far as it can be read. */
export function inputMembers(contract: string): string[] {
  try {
    const schema: unknown = JSON.parse(contract);
    if (!isObject(schema)) return [];
    const isJsonSchema =
      '$schema' in schema || (schema['type'] === 'object' && isObject(schema['properties']));
    const members = isJsonSchema ? schema['properties'] : schema;
    return isObject(members) ? Object.keys(members) : [];
  } catch {
    return [];
  }
}
