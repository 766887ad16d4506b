import { type Scope, VERSION } from '@orrery/contracts';
import type { z } from 'zod';
import type { RoutedRpc } from '../../core/requests/operation.js';
import { requestParts } from '../../core/requests/request-schema.js';
import { answerExamples } from './answer-examples.js';
import { describeOperation } from './describe-operation.js';
import { problemSchema, sharedResponses } from './problem-responses.js';
import { createSchemaBook, type SchemaBook } from './schema-book.js';
import { successEnvelopes } from './success-responses.js';

const INFO = {
  title: 'Orrery',
  version: VERSION,
  summary: 'A simulation world service',
  description:
    'Define a world, its entities and its events. Run deployments of it with a history that can be verified and replayed.',
  license: { name: 'MIT', identifier: 'MIT' },
};

/** What each group of operations is about. */
const TAGS: Readonly<Record<string, string>> = {
  Worlds: 'Named simulation spaces with the seed text of their prompts',
  'Entity schemas': 'The structure of the entities of a world',
  Attributes: 'The typed attributes of an entity schema',
  Events: 'The operations that a world defines',
  'Event versions': 'Numbered definitions of what an event reads, changes and returns',
  Deployments: 'Runtime instances of a world',
  'Event bindings': 'Which version of an event a deployment runs',
  'Entity instances': 'The entities of a deployment and their state',
  Execution: 'Execution of events',
  'Public execution': 'Execution of public events by wallets, paid where the event has a price',
  'Reading without a key': 'Published deployments, as anyone reads them',
  'What if': 'Histories replayed with changes, in forks that reach nobody',
  History: 'The hash-chained record of everything that happened in a deployment',
  Chains: 'Pushes of executions to chains',
  Webhooks: 'Addresses that the executions of a deployment are sent to',
  'AI models': 'The AI models that can propose changes',
  Payments: 'Payments for public executions',
  Schedules: 'Events that run by themselves',
  Timers: 'Executions that are to come',
  'Sign-in': 'Tokens for wallets, if the operator allows sign-up, and for a browser on the machine itself',
  Keys: 'The API keys of your account',
  Limits: 'What requests, definitions and deployments may hold',
};

const text = { schema: { type: 'string' } };
const HEADERS = {
  RequestId: {
    description: 'The id of the request in the logs; your own X-Request-Id if you sent one',
    ...text,
  },
  Location: { description: 'The path of the created resource or of the accepted execution', ...text },
  PreferenceApplied: { description: 'The preference of the `Prefer` header that was applied', ...text },
  ETag: { description: 'Names what the record is now, in quotes, for use in If-Match', ...text },
  EntityTag: { description: 'Names the state of the answer, for use in If-None-Match', ...text },
  PaymentRequired: { description: 'What to pay and how, for x402 version 2: base64 of its JSON', ...text },
  PaymentResponse: {
    description: 'How a payment of x402 version 2 was settled: base64 of its JSON',
    ...text,
  },
  XPaymentResponse: {
    description: 'How a payment of x402 version 1 was settled: base64 of its JSON',
    ...text,
  },
  RetryAfter: { description: 'Seconds to wait before the next try', schema: { type: 'integer' } },
  RateLimit: { description: 'The remaining requests of the rate limit', ...text },
  RateLimitPolicy: { description: 'The rate limit', ...text },
  WWWAuthenticate: { description: 'How to authenticate', ...text },
};

const SECURITY = {
  apiKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key with the scope that the operation names; `x-scopes` says what each allows',
    'x-scopes': {
      read: 'Reads worlds, definitions, deployments and histories',
      write: 'Creates, changes and deletes them, and tries versions that are not saved',
      execute: 'Executes events',
      keys: 'Makes, lists, rotates and revokes keys of the account',
    } satisfies Record<Scope, string>,
  },
};

/** The OpenAPI 3.1 document of the routes, made from the contract alone. */
export function openApiDocument(routes: readonly RoutedRpc[]): Record<string, unknown> {
  const book = bookOf(routes);
  const names = [...new Set(routes.map(({ http }) => http.tag))];
  return {
    openapi: '3.1.0',
    info: INFO,
    servers: [{ url: '/', description: 'The server that served this document' }],
    tags: names.map((name) => ({ name, description: TAGS[name] ?? name })),
    paths: pathsOf(routes, book),
    components: {
      schemas: { Problem: problemSchema, ...book.components() },
      responses: sharedResponses(),
      headers: HEADERS,
      examples: examplesOf(routes, book),
      securitySchemes: SECURITY,
    },
  };
}

function bookOf(routes: readonly RoutedRpc[]): SchemaBook {
  return createSchemaBook(
    routes.flatMap((rpc) => {
      const { params, query, headers, body } = requestParts(rpc);
      const sent = [params, query, headers, body].map((schema) => ({ schema, side: 'input' as const }));
      const read = [params, query, headers].map((schema) => ({ schema, side: 'output' as const }));
      const answered = [rpc.reply as z.ZodType, ...Object.values(rpc.http.stream ?? {})];
      return [...sent, ...read, ...answered.map((schema) => ({ schema, side: 'output' as const }))];
    }),
  );
}

/** What the answers refer to, each once: many operations answer the same record. */
const examplesOf = (routes: readonly RoutedRpc[], book: SchemaBook): Record<string, { value: unknown }> =>
  Object.fromEntries(
    routes
      .flatMap((rpc) => successEnvelopes(rpc, book).map(([, envelope]) => answerExamples(rpc, envelope)))
      .flatMap((examples) => Object.entries(examples))
      .map(([name, value]) => [name, { value }] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );

function pathsOf(routes: readonly RoutedRpc[], book: SchemaBook): Record<string, Record<string, unknown>> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const rpc of routes) {
    const path = rpc.http.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [rpc.http.method.toLowerCase()]: describeOperation(rpc, book) };
  }
  return paths;
}
