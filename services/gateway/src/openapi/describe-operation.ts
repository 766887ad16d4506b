import type { Access } from '@orrery/contracts';
import type { z } from 'zod';
import type { RoutedRpc } from '../operations/operation.js';
import { requestParts, requestSchema } from '../operations/request-schema.js';
import { BODY_EXAMPLES, parameterExamples } from './examples.js';
import { operationId } from './operation-id.js';
import { parametersOf } from './parameters.js';
import { problemResponses } from './problem-responses.js';
import type { SchemaBook } from './schema-book.js';
import { successResponses } from './success-responses.js';

/** One operation of the document. */
export function describeOperation(rpc: RoutedRpc, book: SchemaBook): Record<string, unknown> {
  const parts = requestParts(rpc);
  const inPath = [...rpc.http.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  const parameters = parametersOf(parts, book, parameterExamples(rpc.name, inPath));
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
