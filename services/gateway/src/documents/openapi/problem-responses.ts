import { ERRORS, type ErrorCode, ServiceError } from '@orrery/contracts';
import { problemOf } from '../../core/problems/problem.js';
import type { RoutedRpc } from '../../core/requests/operation.js';
import type { JsonSchema } from './schema-book.js';

export const problemSchema: JsonSchema = {
  type: 'object',
  description: 'An error: problem details by RFC 9457 with the members of the envelope.',
  properties: {
    success: { const: false, description: 'Always false.' },
    error: { type: 'string', description: 'What went wrong, for people: the same text as `detail`.' },
    code: { type: 'string', description: 'What went wrong, for programs.' },
    type: { type: 'string', description: '`urn:orrery:problem:<code>`.' },
    title: { type: 'string', description: 'What the code means, in a few words.' },
    status: { type: 'integer', minimum: 400, maximum: 599, description: 'The HTTP status of the answer.' },
    detail: { type: 'string', description: 'What went wrong this time, and what to do.' },
    instance: { type: 'string', description: 'The path of the request.' },
    requestId: { type: 'string', description: 'The id of the request in the logs of the server.' },
    errors: {
      type: 'array',
      maxItems: 20,
      description: 'The wrong parts of the request, where there are any.',
      items: {
        type: 'object',
        properties: {
          pointer: {
            type: 'string',
            description: 'Where: RFC 6901 into the body, or `#query/…`, `#path/…`, `#header/…`.',
          },
          code: { type: 'string', description: 'What is wrong there, for programs.' },
          message: { type: 'string', description: 'What is wrong there, for people.' },
          suggestion: {
            type: 'string',
            description: 'What to write, or to do; every problem of a definition has one.',
          },
        },
        required: ['pointer', 'code', 'message'],
      },
    },
    facts: { type: 'object', description: 'Facts for programs, by code.' },
  },
  required: ['success', 'error', 'code', 'type', 'title', 'status', 'detail', 'instance', 'requestId'],
};

const described = (type: string, description: string) => ({ type, description });

/** What clients of x402 version 1 read in the body of a 402. */
const demandSchema: JsonSchema = {
  type: 'object',
  properties: {
    x402Version: { const: 1, description: 'The version of x402 that `accepts` is written in.' },
    accepts: {
      type: 'array',
      description: 'Payment requirements by version 1 of x402: one of them is to be met.',
      items: {
        type: 'object',
        properties: {
          scheme: { const: 'exact', description: 'How the amount is meant: exactly.' },
          network: described('string', 'The network, by its name in version 1 of x402: `base-sepolia`.'),
          maxAmountRequired: described('string', 'The amount, in the smallest unit of the asset.'),
          asset: described('string', 'Address of the asset that is paid in.'),
          payTo: described('string', 'Who is paid: the receiver of the deployment.'),
          resource: described('string', 'The address of the call that is paid for.'),
          description: described('string', 'What is paid for, for people.'),
          mimeType: described('string', 'The media type of what the call answers.'),
          maxTimeoutSeconds: described('integer', 'For how long the payment has to be valid at least.'),
          extra: described('object', 'What the network asks for beside that, such as the name of the asset.'),
        },
        required: [
          'scheme',
          'network',
          'maxAmountRequired',
          'asset',
          'payTo',
          'resource',
          'maxTimeoutSeconds',
        ],
      },
    },
  },
  required: ['x402Version', 'accepts'],
};

/** As `base-sepolia` is paid on, in test money. */
const DEMAND_EXAMPLE = {
  x402Version: 1,
  accepts: [
    {
      scheme: 'exact',
      network: 'base-sepolia',
      maxAmountRequired: '50000',
      asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
      payTo: '0x2222222222222222222222222222222222222222',
      resource: 'https://orrery.example/app/deployments/0x5a…/execute',
      description: 'cheer',
      mimeType: 'application/json',
      maxTimeoutSeconds: 25,
      extra: { name: 'USDC', version: '2' },
    },
  ],
};

const PAYER =
  'Nothing was executed. The body tells by `accepts` what to pay for clients of x402 version 1, the header ' +
  '`PAYMENT-REQUIRED` for those of version 2. Send the same request again, with the same message, and the payment in the ' +
  'header `X-PAYMENT` or `PAYMENT-SIGNATURE`. `detail` says why a payment was refused, `facts.reason` for programs; where ' +
  '`facts.refundDue` is true, it was charged, and the owner of the deployment has to return it.';

/** The codes that the gateway itself answers for any operation. */
function gatewayCodes({ access, http }: RoutedRpc): ErrorCode[] {
  const codes: ErrorCode[] = [...EVERYWHERE];
  if (access.relation !== 'public') codes.push('unauthorized');
  if (access.scope !== 'none') codes.push('forbidden');
  if (http.path.includes(':')) codes.push('route_not_found');
  if (http.method !== 'GET') codes.push('invalid_json', 'body_too_large', 'unsupported_media_type');
  return codes;
}

const EVERYWHERE: readonly ErrorCode[] = [
  'validation_failed',
  'rate_limited',
  'internal',
  'unavailable',
  'overloaded',
  'storage_full',
  'deadline_exceeded',
];

/** Statuses that carry the same codes wherever they appear: described once, as components. */
const SHARED: Readonly<Record<number, readonly ErrorCode[]>> = {
  401: ['unauthorized'],
  403: ['forbidden'],
  413: ['body_too_large'],
  415: ['unsupported_media_type'],
  429: ['rate_limited'],
  500: ['internal'],
  503: ['unavailable', 'overloaded', 'storage_full'],
  504: ['deadline_exceeded'],
};

/** The shared responses, for the document's components. */
export const sharedResponses = (): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(SHARED).map(([status, codes]) => [
      `Problem${status}`,
      problemResponse(Number(status), codes, '/api/worlds'),
    ]),
  );

/** One response per status, with the codes that it may carry. */
export function problemResponses(rpc: RoutedRpc): Record<string, unknown> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of new Set([...gatewayCodes(rpc), ...rpc.errors])) {
    const { status } = ERRORS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const sorted = [...byStatus].sort(([a], [b]) => a - b);
  return Object.fromEntries(sorted.map(([status, codes]) => [status, responseOf(status, codes, rpc)]));
}

function responseOf(status: number, codes: ErrorCode[], rpc: RoutedRpc): unknown {
  const isShared = SHARED[status]?.join() === codes.join();
  return isShared
    ? { $ref: `#/components/responses/Problem${status}` }
    : problemResponse(status, codes, rpc.http.path);
}

function problemResponse(status: number, codes: readonly ErrorCode[], instance: string): unknown {
  const [first = 'internal'] = codes;
  const mayWait = codes.some((code) => ERRORS[code].retryable);
  return {
    description: [
      ...codes.map((code) => `\`${code}\`: ${ERRORS[code].title}`),
      ...(status === 402 ? [PAYER] : []),
    ].join('. '),
    headers: {
      ...common,
      ...(mayWait && retryAfter),
      ...(status === 401 && wwwAuthenticate),
      ...(status === 402 && { 'PAYMENT-REQUIRED': header('PaymentRequired') }),
    },
    content: {
      'application/problem+json': {
        schema: {
          allOf: [
            { $ref: '#/components/schemas/Problem' },
            ...(status === 402 ? [demandSchema] : []),
            {
              type: 'object',
              properties: { code: { enum: codes, description: 'One of the codes of this answer.' } },
            },
          ],
        },
        example: {
          ...problemOf(new ServiceError(first), { instance, requestId: 'b7c1' }),
          ...(status === 402 && DEMAND_EXAMPLE),
        },
      },
    },
  };
}

const header = (name: string) => ({ $ref: `#/components/headers/${name}` });
const common = { 'X-Request-Id': header('RequestId') };
const retryAfter = { 'Retry-After': header('RetryAfter') };
const wwwAuthenticate = { 'WWW-Authenticate': header('WWWAuthenticate') };
