import type { RequestParts } from '../operations/request-schema.js';
import type { JsonSchema } from './json-schema.js';
import type { SchemaBook } from './schema-book.js';

type Location = 'path' | 'query' | 'header';
export interface Parameter {
  name: string;
  in: Location;
  required: boolean;
  schema: JsonSchema;
  description?: string;
  example?: unknown;
}

/** Path, query and header parameters of an operation. */
export function parametersOf(
  parts: RequestParts,
  book: SchemaBook,
  examples: Record<string, unknown>,
): Parameter[] {
  const located: [Location, RequestParts[keyof RequestParts]][] = [
    ['path', parts.params],
    ['query', parts.query],
    ['header', parts.headers],
  ];
  return located.flatMap(([location, schema]) => {
    const sent = book.inline(schema, 'input');
    const read = book.inline(schema, 'output');
    return Object.entries(membersOf(sent)).map(([name, asSent]) =>
      parameter(name, location, isRequired(sent, name), shown(asSent, membersOf(read)[name]), examples[name]),
    );
  });
}

/**
 * Queries arrive as text, so the schema of the parsed value says more. A transform has no schema of its result; then the
 * schema of the text is shown.
 */
const shown = (sent: JsonSchema, read: JsonSchema = {}): JsonSchema =>
  Object.keys(read).length === 0 ? sent : read;

function parameter(
  name: string,
  location: Location,
  required: boolean,
  schema: JsonSchema,
  example: unknown,
): Parameter {
  const { description, ...rest } = schema;
  return {
    name: location === 'header' ? headerName(name) : name,
    in: location,
    required,
    schema: rest,
    ...(typeof description === 'string' && { description }),
    ...(example !== undefined && { example }),
  };
}

const headerName = (name: string): string => name.replaceAll(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());

const membersOf = (schema: JsonSchema): Record<string, JsonSchema> =>
  (schema['properties'] ?? {}) as Record<string, JsonSchema>;

const isRequired = (schema: JsonSchema, name: string): boolean =>
  ((schema['required'] ?? []) as string[]).includes(name);
