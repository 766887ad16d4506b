import type { RequestParts } from '../operations/request-schema.js';
import type { JsonSchema } from './json-schema.js';
import type { SchemaBook } from './schema-book.js';

type Place = 'path' | 'query' | 'header';
export interface Parameter {
  name: string;
  in: Place;
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
  const places: [Place, RequestParts[keyof RequestParts]][] = [
    ['path', parts.params],
    ['query', parts.query],
    ['header', parts.headers],
  ];
  return places.flatMap(([place, schema]) => {
    const sent = book.inPlace(schema, 'input');
    const read = book.inPlace(schema, 'output');
    return Object.entries(membersOf(sent)).map(([name, asSent]) =>
      parameter(name, place, isRequired(sent, name), telling(asSent, membersOf(read)[name]), examples[name]),
    );
  });
}

/**
 * Queries arrive as text: what they are read as tells more than that they are text. A transform has no schema of its
 * result, then what is sent must do.
 */
const telling = (sent: JsonSchema, read: JsonSchema = {}): JsonSchema =>
  Object.keys(read).length === 0 ? sent : read;

function parameter(
  name: string,
  place: Place,
  required: boolean,
  schema: JsonSchema,
  example: unknown,
): Parameter {
  const { description, ...rest } = schema;
  return {
    name: place === 'header' ? headerName(name) : name,
    in: place,
    required,
    schema: rest,
    ...(typeof description === 'string' && { description }),
    ...(place === 'path' && example !== undefined && { example }),
  };
}

const headerName = (name: string): string => name.replaceAll(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());

const membersOf = (schema: JsonSchema): Record<string, JsonSchema> =>
  (schema['properties'] ?? {}) as Record<string, JsonSchema>;

const isRequired = (schema: JsonSchema, name: string): boolean =>
  ((schema['required'] ?? []) as string[]).includes(name);
