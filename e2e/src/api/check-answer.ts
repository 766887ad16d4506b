import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { ERRORS, isErrorCode } from '@orrery/contracts';
import { repositoryRoot } from '@orrery/testing/system';
import { z } from 'zod';
import { operationAt, type RoutedOperation } from './routed-operations.js';

/** What came back for a request; `body` is parsed JSON. */
export interface CheckedAnswer {
  status: number;
  headers: Headers;
  body: unknown;
}

/** Throws when an answer differs from what the contract and `openapi.json` say. `path` without its query. */
export type CheckAnswer = (method: string, path: string, answer: CheckedAnswer) => void;

/** Whose answers are checked: the release before lacks members that this one fills in. */
export type Answering = 'this release' | 'this release or the one before';

/** A check of answers; it reads the committed document once. */
export function createAnswerCheck(answering: Answering = 'this release'): CheckAnswer {
  const documented = readDocumented();
  return (method, path, answer) => {
    const operation = operationAt(method, path);
    const wrong =
      answer.status < 400
        ? [
            ...wrongInSuccess(operation, answer, answering),
            ...(answering === 'this release' ? wrongTag(operation, answer, documented) : []),
          ]
        : [...wrongInProblem(path, answer), ...undocumented(operation, answer, documented)];
    if (wrong.length === 0) return;
    const text = JSON.stringify(answer.body)?.slice(0, 2000);
    throw new Error(
      `${method} ${path} → ${answer.status} breaks its contract:\n${wrong.join('\n')}\n${text}`,
    );
  };
}

function wrongInSuccess(
  operation: RoutedOperation | undefined,
  { status, headers, body }: CheckedAnswer,
  answering: Answering,
): string[] {
  if (operation === undefined) return ['no operation of the contract answers here'];
  const { success, ...members } = body as Record<string, unknown>;
  // The gateway has made a header of the last member of the reply.
  const { etag } = (operation.reply as z.ZodObject).shape;
  const [isWhole, none] = answering === 'this release' ? [isDeepStrictEqual, undefined] : [contains, ''];
  const reply = etag === undefined ? members : { ...members, etag: headers.get('etag') ?? none };
  const parsed = (operation.reply as z.ZodType).safeParse(reply);
  const { http } = operation;
  const accepted = http.accepted?.is(members['data'] as Record<string, unknown>) === true;
  return [
    ...(success === true ? [] : ['success is not true']),
    ...(status === (accepted ? 202 : http.status) ? [] : [`the status is not ${http.status}`]),
    ...wrongType(headers, 'application/json'),
    ...(http.location !== undefined && status > 200 && !headers.has('location') ? ['no Location'] : []),
    ...(parsed.success ? [] : [parsed.error.message]),
    // A schema that is not strict drops what it does not know, and fills in its defaults.
    ...(parsed.success && !isWhole(parsed.data, reply) ? ['more or less than is documented'] : []),
  ];
}

function wrongInProblem(path: string, { status, headers, body }: CheckedAnswer): string[] {
  const parsed = (status === 402 ? paymentProblem : problemDocument).safeParse(body);
  if (!parsed.success) return [parsed.error.message];
  const { code, title, type, instance, requestId, ...rest } = parsed.data;
  if (!isErrorCode(code)) return [`the code ${code} is unknown`];
  const expected = {
    title: ERRORS[code].title,
    type: `urn:orrery:problem:${code}`,
    status: ERRORS[code].status,
    instance: path,
    requestId: headers.get('x-request-id'),
  };
  const found = { title, type, status: rest.status, instance, requestId };
  return [
    ...(rest.status === status ? [] : ['the status of the body is another']),
    ...(isDeepStrictEqual(found, expected) ? [] : [`expected ${JSON.stringify(expected)}`]),
    ...wrongType(headers, 'application/problem+json'),
    ...(status === 401 && !headers.has('www-authenticate') ? ['no WWW-Authenticate'] : []),
    ...((status === 429 || status === 503) && !headers.has('retry-after') ? ['no Retry-After'] : []),
  ];
}

/** An `ETag` comes where the document names it, and nowhere else. */
function wrongTag(
  operation: RoutedOperation | undefined,
  { status, headers }: CheckedAnswer,
  documented: Documented,
): string[] {
  const isNamed = operation !== undefined && documented(operation, status)?.headers?.['ETag'] !== undefined;
  return headers.has('etag') === isNamed ? [] : [isNamed ? 'no ETag' : 'an ETag that is not documented'];
}

function undocumented(
  operation: RoutedOperation | undefined,
  { status, body }: CheckedAnswer,
  documented: Documented,
): string[] {
  const { code } = body as { code: string };
  const expected = operation === undefined ? NOWHERE : codesOf(documented(operation, status));
  return expected.includes(code)
    ? []
    : [`${code} is not documented for ${operation?.name ?? 'no operation'}`];
}

const NOWHERE = [
  'route_not_found',
  'method_not_allowed',
  'validation_failed',
  'unauthorized',
  'rate_limited',
];

const wrongType = (headers: Headers, type: string): string[] =>
  headers.get('content-type')?.split(';')[0] === type ? [] : [`the content type is not ${type}`];

interface Response {
  $ref?: string;
  headers?: Readonly<Record<string, object>>;
  content?: Record<string, { schema: { allOf?: { properties?: { code?: { enum: string[] } } }[] } }>;
}

interface Document {
  paths: Record<string, Record<string, { responses: Record<string, Response> }>>;
  components: { responses: Record<string, Response> };
}

type Documented = (operation: RoutedOperation, status: number) => Response | undefined;

/** Reads the committed document once; gives the answer with a status, `undefined` for a status it lacks. */
function readDocumented(): Documented {
  const document: Document = JSON.parse(readFileSync(join(repositoryRoot, 'openapi.json'), 'utf8'));
  return ({ http }, status) => {
    const path = http.path.replaceAll(/:(\w+)/g, '{$1}');
    const found = document.paths[path]?.[http.method.toLowerCase()]?.responses[status];
    const shared = found?.$ref?.split('/').at(-1);
    return shared === undefined ? found : document.components.responses[shared];
  };
}

/** The codes that an answer may have. */
const codesOf = (response: Response | undefined): string[] =>
  response?.content?.['application/problem+json']?.schema.allOf?.flatMap(
    ({ properties }) => properties?.code?.enum ?? [],
  ) ?? [];

/** An RFC 9457 document with the members of the envelope; no other members are allowed (docs/gateway.md). */
const problemDocument = z.strictObject({
  success: z.literal(false),
  error: z.string().min(1),
  code: z.string(),
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string().min(1),
  instance: z.string().startsWith('/'),
  requestId: z.string().min(1),
  errors: z
    .array(
      z.strictObject({
        pointer: z.string(),
        code: z.string(),
        message: z.string(),
        suggestion: z.string().min(1).optional(),
      }),
    )
    .min(1)
    .optional(),
  facts: z.record(z.string(), z.json()).optional(),
});

/** x402 clients find their requirements at the top of a 402. */
const paymentProblem = problemDocument.extend({
  x402Version: z.literal(1),
  accepts: z.array(z.looseObject({ network: z.string(), payTo: z.string() })),
});

/** Whether JSON is in other JSON as it is, which may have more members in its objects. */
export function contains(whole: unknown, part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return whole === part;
  if (typeof whole !== 'object' || whole === null || Array.isArray(whole) !== Array.isArray(part))
    return false;
  if (Array.isArray(part) && part.length !== (whole as unknown[]).length) return false;
  return Object.entries(part).every(([name, value]) =>
    contains((whole as Record<string, unknown>)[name], value),
  );
}
