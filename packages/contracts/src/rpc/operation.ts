import { z } from 'zod';
import { deleted } from '../records/fields.js';
import { MAX_LIMIT, pagination } from '../records/pagination.js';
import type { HttpBinding, Rpc } from './rpc.js';

const nothing = z.strictObject({});
type Nothing = typeof nothing;

interface OperationParts<P extends z.ZodType, Q extends z.ZodType, H extends z.ZodType, B extends z.ZodType> {
  http: HttpBinding;
  access: Rpc['access'];
  errors: Rpc['errors'];
  /** Path parameters, by the names in `http.path`. */
  params?: P;
  /** Query parameters; unknown ones are refused. */
  query?: Q;
  /** Request headers that the operation reads, by their lower-case names. */
  headers?: H;
  /** JSON body; without one, an absent or empty body is accepted. */
  body?: B;
}

const requestOf = <P extends z.ZodType, Q extends z.ZodType, H extends z.ZodType, B extends z.ZodType>(
  parts: OperationParts<P, Q, H, B>,
) =>
  z.strictObject({
    params: (parts.params ?? nothing) as P,
    query: (parts.query ?? nothing) as Q,
    headers: (parts.headers ?? nothing) as H,
    body: (parts.body ?? nothing) as B,
  });

/** An RPC that the gateway offers over HTTP. Its reply holds the members of the success envelope (docs/gateway.md). */
export function operation<
  D extends z.ZodType,
  P extends z.ZodType = Nothing,
  Q extends z.ZodType = Nothing,
  H extends z.ZodType = Nothing,
  B extends z.ZodType = Nothing,
>(parts: OperationParts<P, Q, H, B> & { data: D }) {
  const { http, access, errors } = parts;
  const reply = z.strictObject({
    data: parts.data,
    message: z
      .string()
      .optional()
      .describe('What the request did, for people, and warnings if there are any.'),
    etag: z.string().optional(),
  });
  return { http, access, errors, request: requestOf(parts), reply } satisfies Rpc;
}

/** An operation that answers one page of a list. */
export function listOperation<
  D extends z.ZodType,
  P extends z.ZodType = Nothing,
  Q extends z.ZodType = Nothing,
  H extends z.ZodType = Nothing,
>(parts: OperationParts<P, Q, H, Nothing> & { item: D }) {
  const { http, access, errors } = parts;
  const reply = z.strictObject({
    data: z.array(parts.item).max(MAX_LIMIT).describe('The items of this page.'),
    pagination: pagination.describe('Which part of the list this page is.'),
  });
  return { http, access, errors, request: requestOf(parts), reply } satisfies Rpc;
}

/** The HTTP binding of an operation; its status is 200 unless `more` says otherwise. */
export const route = (
  method: HttpBinding['method'],
  path: string,
  tag: string,
  summary: string,
  more: Partial<HttpBinding> = {},
): HttpBinding => ({ method, path, status: 200, tag, summary, ...more });

/** What most operations ask of their caller. */
export const READING = { scope: 'read', relation: 'visible' } as const;
export const WRITING = { scope: 'write', relation: 'owner' } as const;

type PartsBelow<P extends z.ZodType, Q extends z.ZodType, H extends z.ZodType, B extends z.ZodType> = Omit<
  OperationParts<P, Q, H, B>,
  'http' | 'access'
> & { access?: Rpc['access']; http?: Partial<HttpBinding> };

/**
 * Makes the operations whose paths begin alike. Who can see a thing may list and read it, its owner may write and remove
 * it, unless `access` says otherwise.
 */
export function operationsBelow(root: string, tag: string) {
  const at = (method: HttpBinding['method'], rest: string, summary: string, more?: Partial<HttpBinding>) =>
    route(method, `${root}${rest}`, tag, summary, more);
  return {
    list: <D extends z.ZodType, P extends z.ZodType = Nothing, Q extends z.ZodType = Nothing>(
      rest: string,
      summary: string,
      parts: PartsBelow<P, Q, Nothing, Nothing> & { item: D },
    ) => listOperation({ access: READING, ...parts, http: at('GET', rest, summary, parts.http) }),
    read: <
      D extends z.ZodType,
      P extends z.ZodType = Nothing,
      Q extends z.ZodType = Nothing,
      H extends z.ZodType = Nothing,
    >(
      rest: string,
      summary: string,
      parts: PartsBelow<P, Q, H, Nothing> & { data: D },
    ) => operation({ access: READING, ...parts, http: at('GET', rest, summary, parts.http) }),
    write: <
      D extends z.ZodType,
      P extends z.ZodType = Nothing,
      Q extends z.ZodType = Nothing,
      H extends z.ZodType = Nothing,
      B extends z.ZodType = Nothing,
    >(
      method: 'POST' | 'PUT',
      rest: string,
      summary: string,
      parts: PartsBelow<P, Q, H, B> & { data: D },
    ) => operation({ access: WRITING, ...parts, http: at(method, rest, summary, parts.http) }),
    remove: <P extends z.ZodType = Nothing, Q extends z.ZodType = Nothing, H extends z.ZodType = Nothing>(
      rest: string,
      summary: string,
      parts: PartsBelow<P, Q, H, Nothing>,
    ) => operation({ access: WRITING, ...parts, data: deleted, http: at('DELETE', rest, summary) }),
  };
}

/** The path of a request with its parameters filled in, each as one encoded segment. */
export const requestPath = ({ path }: Pick<HttpBinding, 'path'>, params: Record<string, unknown>): string =>
  path.replace(/:([A-Za-z]+)/g, (_whole, parameter: string) => encodeURIComponent(String(params[parameter])));

const unquoted = (text: string): string => text.replace(/^"(.*)"$/, '$1');

/** `Idempotency-Key`, quoted or bare: 1–255 printable ASCII characters without quotes. */
export const idempotencyKey = z
  .string()
  .regex(
    /^(?:[\x20\x21\x23-\x7e]{1,255}|"[\x20\x21\x23-\x7e]{1,255}")$/,
    'An idempotency key has 1 to 255 printable ASCII characters and no quotes.',
  )
  .meta({
    minLength: 1,
    maxLength: 257,
    description:
      '1 to 255 printable ASCII characters without quotes; quotes around them are left out. A repetition with the same ' +
      'key gets the first answer for 24 hours; another body with the same key is 422 `idempotency_key_reused`. Keys ' +
      'belong to an account, a method and a path.',
  })
  .transform(unquoted);

/** Headers of an operation that may be repeated safely. */
export const idempotentHeaders = z.strictObject({ 'idempotency-key': idempotencyKey.optional() });
