import type { EntityInstance, JsonObject } from '@orrery/sdk';
import type { Attribute } from '../api/records.js';
import { isObject } from '../forms/json.js';
import { isUnreadable, readTyped, whyWrong } from '../schemas/check-value.js';
import { readCsv, writeCsv } from './csv.js';

export type TypedAttribute = Pick<Attribute, 'name' | 'type' | 'constraints'>;

/** An instance as a file has it. */
export interface FileRow {
  readonly instanceId: string;
  readonly state: JsonObject;
}

/** The column of the instance's key. */
const ID = 'instanceId';

/** The attributes of a schema and of instances: first those that the schema names, in its order. */
export function columnsOf(attributes: readonly TypedAttribute[], rows: readonly FileRow[]): string[] {
  const named = attributes.map(({ name }) => name);
  const others = new Set(rows.flatMap(({ state }) => Object.keys(state)));
  return [...named, ...[...others].filter((name) => !named.includes(name)).sort()];
}

export const asJson = (instances: readonly EntityInstance[]): string =>
  `${JSON.stringify(
    instances.map(({ instanceId, state }) => ({ instanceId, state })),
    null,
    2,
  )}\n`;

/** What a column of texts has as JSON: the empty text, null, and texts that look like those. */
const isLikeJson = (text: string): boolean => text === '' || text === 'null' || text.startsWith('"');

/** Texts stand as they are, everything else as JSON; an empty cell is an attribute that is not there. */
export function asCsv(attributes: readonly TypedAttribute[], instances: readonly EntityInstance[]): string {
  const columns = columnsOf(attributes, instances);
  const types = new Map(attributes.map(({ name, type }) => [name, type]));
  const cellOf = (name: string, value: unknown): string => {
    if (value === undefined) return '';
    const isText = typeof value === 'string' && types.get(name) === 'string';
    return isText && !isLikeJson(value) ? value : JSON.stringify(value);
  };
  return writeCsv([
    [ID, ...columns],
    ...instances.map(({ instanceId, state }) => [
      instanceId,
      ...columns.map((name) => cellOf(name, state[name])),
    ]),
  ]);
}

/** What a file holds, and why it holds what is no instance; each problem with its row, from 1. */
export interface ReadFile {
  readonly rows: readonly FileRow[];
  readonly problems: readonly string[];
}

/** Reads instances of one schema from JSON (a list of `{ instanceId, state }`) or CSV. */
export function readInstances(text: string, attributes: readonly TypedAttribute[]): ReadFile {
  const read = /^\s*[[{]/.test(text) ? readJson(text) : readTable(text, attributes);
  const seen = new Set<string>();
  const problems = [...read.problems];
  for (const [at, { instanceId, state }] of read.rows.entries()) {
    const say = (words: string) => problems.push(`Row ${at + 1} (${instanceId || 'no id'}): ${words}`);
    if (instanceId === '') say('it has no instanceId.');
    else if (seen.has(instanceId)) say('its instanceId stands there twice.');
    seen.add(instanceId);
    for (const attribute of attributes) {
      const wrong =
        state[attribute.name] === undefined ? undefined : whyWrong(state[attribute.name], attribute);
      if (wrong !== undefined) say(`${attribute.name} ${wrong}.`);
    }
  }
  return { rows: read.rows, problems };
}

function readJson(text: string): ReadFile {
  try {
    const list: unknown = JSON.parse(text);
    if (!Array.isArray(list))
      return { rows: [], problems: ['It is no list: [{ "instanceId": …, "state": { … } }].'] };
    return { rows: list.map(rowOf), problems: list.flatMap(whyNoRow) };
  } catch (error) {
    return { rows: [], problems: [`It is no JSON: ${(error as Error).message}`] };
  }
}

const rowOf = (one: unknown): FileRow => ({
  instanceId: isObject(one) && typeof one[ID] === 'string' ? one[ID] : '',
  state: isObject(one) && isObject(one['state']) ? one['state'] : {},
});

const whyNoRow = (one: unknown, at: number): string[] =>
  isObject(one) && (one['state'] === undefined || isObject(one['state']))
    ? []
    : [`Row ${at + 1}: it is no object with instanceId and state.`];

function readTable(text: string, attributes: readonly TypedAttribute[]): ReadFile {
  try {
    const [header = [], ...lines] = readCsv(text);
    if (!header.includes(ID)) return { rows: [], problems: [`The first line has no column ${ID}.`] };
    const problems: string[] = [];
    const rows = lines.map((line, at) => {
      const note = (words: string) => problems.push(`Row ${at + 1}: ${words}`);
      if (line.length > header.length)
        note(`it has ${line.length} cells, the first line has ${header.length}.`);
      return readLine(header, line, attributes, note);
    });
    return { rows, problems };
  } catch (error) {
    return { rows: [], problems: [`It is no CSV: ${(error as Error).message}`] };
  }
}

function readLine(
  header: readonly string[],
  line: readonly string[],
  attributes: readonly TypedAttribute[],
  note: (words: string) => void,
): FileRow {
  const state: JsonObject = {};
  // An attribute may have this name too.
  const ofKey = header.indexOf(ID);
  for (const [at, name] of header.entries()) {
    const text = line[at] ?? '';
    if (at === ofKey || text === '') continue;
    const type = attributes.find((one) => one.name === name)?.type;
    const value = type === undefined ? anyValue(text) : typedValue(text, type);
    if (value === undefined) note(`${name} is no ${type}: ${text}`);
    else state[name] = value;
  }
  return { instanceId: line[ofKey] ?? '', state };
}

type Value = JsonObject[string];

function typedValue(text: string, type: Attribute['type']): Value | undefined {
  if (text === 'null') return null;
  if (type === 'string') return isLikeJson(text) ? anyValue(text) : text;
  return isUnreadable(text, type) ? undefined : (readTyped(text, type) as Value);
}

function anyValue(text: string): Value {
  try {
    return JSON.parse(text) as Value;
  } catch {
    return text;
  }
}
