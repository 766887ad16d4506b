/** A field of an event's form. What no simple control can show is entered as JSON. */
export interface Field {
  readonly name: string;
  readonly kind: 'text' | 'long' | 'whole' | 'number' | 'boolean' | 'choice' | 'json';
  readonly isRequired: boolean;
  readonly label: string;
  readonly hint: string;
  readonly options: readonly unknown[];
  /** What the field begins with, as it is typed. */
  readonly initial: string;
}

type Schema = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A text that may be longer has a control of several lines. */
const LONG = 200;

/**
 * The fields of an input contract (JSON Schema 2020-12); undefined: the whole input is entered as JSON, since a form cannot
 * show it.
 */
export function fieldsOf(schema: unknown): Field[] | undefined {
  if (!isObject(schema) || schema['type'] !== 'object' || !isObject(schema['properties'])) return undefined;
  const { properties, required } = schema as { properties: Schema; required?: unknown };
  const names: unknown[] = Array.isArray(required) ? required : [];
  if (names.some((name) => !Object.hasOwn(properties, String(name)))) return undefined;
  return Object.entries(properties).map(([name, property]) =>
    fieldOf(name, isObject(property) ? property : {}, names.includes(name)),
  );
}

function fieldOf(name: string, schema: Schema, isRequired: boolean): Field {
  const options = Array.isArray(schema['enum']) ? schema['enum'] : [];
  const initial = schema['default'];
  const kind = kindOf(schema, options);
  return {
    name,
    kind,
    isRequired,
    label: typeof schema['title'] === 'string' ? schema['title'] : name,
    hint: hintOf(schema, kind),
    options,
    initial: kind === 'choice' ? placeOf(initial, options) : typed(initial),
  };
}

const typed = (value: unknown): string =>
  value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);

/** A choice is typed as the position of its option. */
function placeOf(value: unknown, options: readonly unknown[]): string {
  const place = options.findIndex((option) => JSON.stringify(option) === JSON.stringify(value));
  return place < 0 ? '' : String(place);
}

function kindOf(schema: Schema, options: readonly unknown[]): Field['kind'] {
  if (options.length > 0) return 'choice';
  switch (schema['type']) {
    case 'string':
      return Number(schema['maxLength']) > LONG ? 'long' : 'text';
    case 'integer':
      return 'whole';
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    default:
      return 'json';
  }
}

function hintOf({ description, minimum, maximum }: Schema, kind: Field['kind']): string {
  const range =
    minimum !== undefined && maximum !== undefined
      ? `${minimum} to ${maximum}`
      : minimum !== undefined
        ? `at least ${minimum}`
        : maximum !== undefined
          ? `at most ${maximum}`
          : '';
  const form = kind === 'json' ? 'as JSON' : kind === 'whole' ? 'a whole number' : '';
  const bounds = [form, range].filter(Boolean).join(', ');
  return [typeof description === 'string' ? description : '', bounds].filter(Boolean).join(' · ');
}

/** What was typed, as an input; or the fields that are wrong, each with what to do. */
export type Entered =
  | { readonly input: Record<string, unknown> }
  | { readonly wrong: Readonly<Record<string, string>> };

/** A field that is left empty is left out, unless it is required. */
export function inputOf(fields: readonly Field[], typed: Readonly<Record<string, string>>): Entered {
  const wrong: Record<string, string> = {};
  const members: [string, unknown][] = [];
  for (const field of fields) {
    const text = typed[field.name] ?? field.initial;
    if (text === '' && field.kind !== 'boolean') {
      if (field.isRequired) wrong[field.name] = 'This is required.';
      continue;
    }
    const value = valueIn(field, text);
    if (value === undefined) wrong[field.name] = MISTAKES[field.kind] ?? 'This does not fit.';
    else members.push([field.name, value]);
  }
  return Object.keys(wrong).length > 0 ? { wrong } : { input: Object.fromEntries(members) };
}

const MISTAKES: Partial<Record<Field['kind'], string>> = {
  whole: 'Enter a whole number.',
  number: 'Enter a number.',
  json: 'This is no JSON.',
};

function valueIn({ kind, options }: Field, text: string): unknown {
  switch (kind) {
    case 'text':
    case 'long':
      return text;
    case 'boolean':
      return text === 'true';
    case 'choice':
      return options[Number(text)];
    case 'whole':
      return Number.isSafeInteger(numberIn(text)) ? numberIn(text) : undefined;
    case 'number':
      return Number.isFinite(numberIn(text)) ? numberIn(text) : undefined;
    case 'json':
      return jsonIn(text);
  }
  return kind satisfies never;
}

/** A blank is no 0. */
const numberIn = (text: string): number => (text.trim() === '' ? Number.NaN : Number(text));

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The field that an error of the service is about: its pointer is into the body, so below `/input/`. */
export function fieldAt(pointer: string): string | undefined {
  const [, step] = /^\/input\/([^/]+)/.exec(pointer) ?? [];
  return step?.replaceAll('~1', '/').replaceAll('~0', '~');
}
