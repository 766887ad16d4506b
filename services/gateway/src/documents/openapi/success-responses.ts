import type { z } from 'zod';
import type { RoutedRpc } from '../../core/requests/operation.js';
import { answerExamples, streamExample } from './answer-examples.js';
import type { JsonSchema, SchemaBook } from './schema-book.js';

const header = (name: string) => ({ $ref: `#/components/headers/${name}` });

const SUCCESS: JsonSchema = { const: true, description: 'Always true; an error is a problem document.' };

/** The envelope that an operation answers (`success`, `data`), under each status that it may have. */
export function successResponses(rpc: RoutedRpc, book: SchemaBook): Record<string, unknown> {
  const { etag } = replyOf(rpc, book).properties;
  const headers = {
    'X-Request-Id': header('RequestId'),
    'RateLimit-Policy': header('RateLimitPolicy'),
    RateLimit: header('RateLimit'),
    ...(rpc.http.location !== undefined && { Location: header('Location') }),
    ...(rpc.http.signed === true && {
      'PAYMENT-RESPONSE': header('PaymentResponse'),
      'X-PAYMENT-RESPONSE': header('XPaymentResponse'),
    }),
    ...(isConditional(rpc) ? { ETag: header('EntityTag') } : etag !== undefined && { ETag: header('ETag') }),
  };
  if (rpc.http.stream !== undefined)
    return { [rpc.http.status]: { description: 'OK', headers, content: eventStream(rpc.http.stream, book) } };
  const responses = Object.fromEntries(
    successEnvelopes(rpc, book).map(([status, schema]) => {
      const response = { description: DESCRIPTIONS[status], headers, content: jsonContent(rpc, schema) };
      return [status, status === 202 ? accepted(rpc, response) : response];
    }),
  );
  return isConditional(rpc) ? { ...responses, 304: { description: 'Unchanged', headers } } : responses;
}

/** Whether the operation reads `If-None-Match`. */
export const isConditional = ({ http }: RoutedRpc): boolean =>
  http.opens !== undefined && http.stream === undefined;

type Status = RoutedRpc['http']['status'];

const DESCRIPTIONS: Readonly<Record<Status, string>> = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted; Location is the path of the execution status, or of the timer',
};

/** The JSON that an operation answers, by status: what only says that the work was taken on is 202, and nothing else is. */
export function successEnvelopes(rpc: RoutedRpc, book: SchemaBook): [Status, JsonSchema][] {
  const { properties, required } = replyOf(rpc, book);
  const { etag: _, ...members } = properties;
  const { data = {} } = members;
  const envelope = (shown: JsonSchema): JsonSchema => ({
    type: 'object',
    properties: { success: SUCCESS, ...members, data: { description: 'The answer.', ...shown } },
    required: ['success', ...required.filter((name) => name !== 'etag')],
    additionalProperties: false,
  });
  const { status, stream, accepted } = rpc.http;
  if (stream !== undefined) return [];
  if (accepted === undefined) return [[status, envelope(data)]];
  const isAccepted = ({ $ref }: JsonSchema) =>
    accepted.data.some((data) => String($ref).endsWith(`/${data.meta()?.id}`));
  return [
    [status, envelope(onlyThose(data, (choice) => !isAccepted(choice)))],
    [202, envelope(onlyThose(data, isAccepted))],
  ];
}

interface Choice extends JsonSchema {
  anyOf?: JsonSchema[];
  discriminator?: { propertyName: string; mapping: Readonly<Record<string, string>> };
}

/** A choice of schemas without some of them; its discriminator names those that stay. */
function onlyThose(schema: Choice, stays: (choice: JsonSchema) => boolean): JsonSchema {
  const { anyOf, discriminator, ...rest } = schema;
  if (anyOf === undefined) return schema;
  const choices = anyOf.filter(stays);
  if (choices.length === 1) return { ...choices[0] };
  if (discriminator === undefined) return { ...rest, anyOf: choices };
  const mapping = Object.entries(discriminator.mapping).filter(([, $ref]) =>
    choices.some((choice) => choice.$ref === $ref),
  );
  return {
    ...rest,
    anyOf: choices,
    discriminator: { ...discriminator, mapping: Object.fromEntries(mapping) },
  };
}

const jsonContent = (rpc: RoutedRpc, schema: JsonSchema) => {
  const names = Object.keys(answerExamples(rpc, schema));
  const examples = names.map((name) => [name, { $ref: `#/components/examples/${name}` }]);
  return { 'application/json': { schema, examples: Object.fromEntries(examples) } };
};

/** RFC 7240 §3: the answer names the preference that was applied. A signed execution has none: its payment is unclear. */
const accepted = <R extends { headers: object }>({ http }: RoutedRpc, response: R) =>
  http.signed === true
    ? response
    : { ...response, headers: { ...response.headers, 'Preference-Applied': header('PreferenceApplied') } };

/** OpenAPI 3.1 cannot describe the events of a stream: `contentSchema` describes the data of one of them. */
function eventStream(events: Readonly<Record<string, z.ZodType>>, book: SchemaBook) {
  const schemas = Object.entries(events).map(([name, data]) => [name, book.inline(data, 'output')] as const);
  return {
    'text/event-stream': {
      schema: {
        type: 'string',
        description: [
          'Server-sent events.',
          ...Object.entries(events).map(([name, { description }]) => `\`${name}\`: ${description}`),
        ].join(' '),
        contentMediaType: 'application/json',
        contentSchema: { anyOf: schemas.map(([, schema]) => schema) },
      },
      example: streamExample(Object.fromEntries(schemas)),
    },
  };
}

function replyOf(rpc: RoutedRpc, book: SchemaBook) {
  const reply = book.inline(rpc.reply as z.ZodType, 'output');
  return {
    properties: reply['properties'] as Record<string, JsonSchema>,
    required: (reply['required'] ?? []) as string[],
  };
}
