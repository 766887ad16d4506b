/** What a page says of an operation that can be tried. */
export interface Callable {
  readonly method: string;
  /** With `{name}` parameters. */
  readonly path: string;
  readonly fields: readonly Field[];
  readonly isKeyed: boolean;
  readonly isStream: boolean;
  readonly body?: unknown;
}

export interface Field {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly example?: unknown;
}

/** What the reader has typed. */
export interface Typed {
  readonly key: string;
  /** By the names of the fields; empty ones are not sent. */
  readonly values: ReadonlyMap<Field, string>;
  readonly body: string | undefined;
}

export interface Call {
  readonly url: string;
  readonly init: {
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly body?: string;
  };
}

/** The call that was typed. @throws MistypedError with what to do */
export function callOf({ method, path, isKeyed }: Callable, { key, values, body }: Typed): Call {
  const given = [...values].filter(([, value]) => value !== '');
  const missing = [...values].find(([field, value]) => field.required && value === '');
  if (missing !== undefined) throw new MistypedError(`Give a value for ${missing[0].name}.`);
  const query = new URLSearchParams(
    given.filter(([field]) => field.in === 'query').map(([{ name }, value]) => [name, value]),
  );
  const filled = given
    .filter(([field]) => field.in === 'path')
    .reduce((all, [{ name }, value]) => all.replace(`{${name}}`, segment(name, value)), path);
  const headers = given
    .filter(([field]) => field.in === 'header')
    .map(([{ name }, value]) => [name.toLowerCase(), value]);
  return {
    url: query.size === 0 ? filled : `${filled}?${query}`,
    init: {
      method: method.toUpperCase(),
      headers: {
        ...(isKeyed && { authorization: `Bearer ${keyOf(key)}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...Object.fromEntries(headers),
      },
      ...(body !== undefined && { body: checkedJson(body) }),
    },
  };
}

/** A browser takes these for folders, also when they are encoded. */
function segment(name: string, value: string): string {
  if (value === '.' || value === '..')
    throw new MistypedError(`${name} cannot be ${value}: no URL can hold it.`);
  return encodeURIComponent(value);
}

function keyOf(key: string): string {
  const trimmed = key.trim();
  if (trimmed === '')
    throw new MistypedError('Give an API key: a server started with npm start has one in .orrery/api-key.');
  if (!/^[\x21-\x7e]+$/.test(trimmed)) throw new MistypedError('The API key has characters that no key has.');
  return trimmed;
}

function checkedJson(body: string): string {
  try {
    JSON.parse(body);
    return body;
  } catch (error) {
    throw new MistypedError(`The body is not valid JSON: ${(error as Error).message}.`);
  }
}

export class MistypedError extends Error {}

/** A body as people read it: JSON with line breaks, where it is JSON. */
export function readable(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
