import { z } from 'zod';
import { MAX_LIMIT, pagination } from '../paging/pagination.js';
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
