import type { Access } from '@orrery/contracts';
import type { z } from 'zod';
import type { RoutedRpc } from '../../core/requests/operation.js';
import { type RequestParts, requestParts, requestSchema } from '../../core/requests/request-schema.js';
import { operationId } from './answer-examples.js';
import { BODY_EXAMPLES, parameterExamples } from './examples.js';
import { problemResponses } from './problem-responses.js';
import type { JsonSchema, SchemaBook } from './schema-book.js';
import { isConditional, successResponses } from './success-responses.js';

/** One operation of the document. */
export function describeOperation(rpc: RoutedRpc, book: SchemaBook): Record<string, unknown> {
  const parts = requestParts(rpc);
  const inPath = [...rpc.http.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  const named = parametersOf(parts, book, parameterExamples(rpc.name, inPath));
  const parameters = isConditional(rpc) ? [...named, IF_NONE_MATCH] : named;
  const hasBody = requestSchema(rpc).body !== 'none';
  return {
    operationId: operationId(rpc.name),
    summary: rpc.http.summary,
    description: descriptionOf(rpc),
    tags: [rpc.http.tag],
    security: securityOf(rpc),
    ...(parameters.length > 0 && { parameters }),
    ...(hasBody && { requestBody: requestBody(rpc.name, parts.body, book) }),
    responses: { ...successResponses(rpc, book), ...problemResponses(rpc) },
  };
}

/** Who may send it: `access` of the contract in words. */
function descriptionOf({ access: { scope, relation }, http }: RoutedRpc): string {
  if (http.signed === true) return 'Anyone may send it: a wallet signs it, and it takes no key.';
  if (relation === 'public') return 'Anyone may send it: it takes no key.';
  const key = scope === 'none' ? 'It takes any key.' : `It takes a key with the scope \`${scope}\`.`;
  return `${key} ${RELATIONS[relation]}`;
}

const RELATIONS: Readonly<Record<Exclude<Access['relation'], 'public'>, string>> = {
  account: 'It is about the account of the key.',
  owner: 'Only the account that owns what the path names may send it.',
  visible: 'Whoever can see what the path names may send it.',
  internal: 'Only services send it.',
};

/** OpenAPI 3.1 allows a bearer scheme to list the scopes that the token needs. */
function securityOf({ access }: RoutedRpc): unknown[] {
  if (access.relation === 'public') return [];
  return [{ apiKey: access.scope === 'none' ? [] : [access.scope] }];
}

function requestBody(name: string, body: z.ZodType, book: SchemaBook): unknown {
  const example = BODY_EXAMPLES[name];
  const content = { schema: book.inline(body, 'input'), ...(example !== undefined && { example }) };
  return { required: true, content: { 'application/json': content } };
}

type Location = 'path' | 'query' | 'header';
export interface Parameter {
  name: string;
  in: Location;
  required: boolean;
  schema: JsonSchema;
  description?: string;
  example?: unknown;
}

const IF_NONE_MATCH: Parameter = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  schema: { type: 'string', maxLength: 8192 },
  description: 'The `ETag` of an earlier answer to the same request: 304 while it is unchanged.',
};

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
