import type { z } from 'zod';
import type { RoutedRpc } from '../operations/operation.js';
import type { JsonSchema } from './json-schema.js';
import type { SchemaBook } from './schema-book.js';

const header = (name: string) => ({ $ref: `#/components/headers/${name}` });

const SUCCESS: JsonSchema = { const: true, description: 'Always true; an error is a problem document.' };

/** The envelope that an operation answers (`success`, `data`), under each status that it may have. */
export function successResponses(rpc: RoutedRpc, book: SchemaBook): Record<string, unknown> {
  const { properties, required } = replyOf(rpc, book);
  const { etag, ...members } = properties;
  const schema = {
    type: 'object',
    properties: { success: SUCCESS, ...members, data: { description: 'The answer.', ...members['data'] } },
    required: ['success', ...required.filter((name) => name !== 'etag')],
    additionalProperties: false,
  };
  const headers = {
    'X-Request-Id': header('RequestId'),
    'RateLimit-Policy': header('RateLimitPolicy'),
    RateLimit: header('RateLimit'),
    ...(rpc.http.location !== undefined && { Location: header('Location') }),
    ...(rpc.http.signed === true && {
      'PAYMENT-RESPONSE': header('PaymentResponse'),
      'X-PAYMENT-RESPONSE': header('XPaymentResponse'),
    }),
    ...(etag !== undefined && rpc.http.path.includes('/entity-instances') && { ETag: header('ETag') }),
  };
  const content =
    rpc.http.stream === undefined ? { 'application/json': { schema } } : eventStream(rpc.http.stream, book);
  const response = (description: string) => ({ description, headers, content });
  return {
    [rpc.http.status]: response(rpc.http.status === 201 ? 'Created' : 'OK'),
    ...(rpc.http.accepted !== undefined && { 202: accepted(rpc, response(ACCEPTED)) }),
  };
}

const ACCEPTED = 'Accepted; Location is the path of the execution status';

/** RFC 7240 §3: the answer names the preference that was applied. A signed execution has none: its payment is unclear. */
const accepted = <R extends { headers: object }>({ http }: RoutedRpc, response: R) =>
  http.signed === true
    ? response
    : { ...response, headers: { ...response.headers, 'Preference-Applied': header('PreferenceApplied') } };

/** OpenAPI 3.1 cannot describe the events of a stream: `contentSchema` describes the data of one of them. */
const eventStream = (events: Readonly<Record<string, z.ZodType>>, book: SchemaBook) => ({
  'text/event-stream': {
    schema: {
      type: 'string',
      description: [
        'Server-sent events.',
        ...Object.entries(events).map(([name, { description }]) => `\`${name}\`: ${description}`),
      ].join(' '),
      contentMediaType: 'application/json',
      contentSchema: { anyOf: Object.values(events).map((data) => book.inline(data, 'output')) },
    },
  },
});

function replyOf(rpc: RoutedRpc, book: SchemaBook) {
  const reply = book.inline(rpc.reply as z.ZodType, 'output');
  return {
    properties: reply['properties'] as Record<string, JsonSchema>,
    required: (reply['required'] ?? []) as string[],
  };
}
