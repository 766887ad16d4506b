import { z } from 'zod';
import { MAX_FOUND } from '../json/problems.js';
import { deleted } from '../records/fields.js';
import { MAX_LIMIT, pageQuery, pagination } from '../records/pagination.js';
import { definitionProblem } from '../records/problems.js';
import { ifMatch } from './entity-tag.js';
import type { HttpBinding, Rpc } from './rpc.js';

const nothing = z.strictObject({});
type Nothing = typeof nothing;

/** What the operations of one path have in common. */
interface Shared<P extends z.ZodType> {
  /** Path parameters, by the names in the path. */
  params?: P;
  /** What each of them may be refused with. */
  errors?: Rpc['errors'];
  access?: Rpc['access'];
}

/** What one operation has beside it. */
interface Parts<Q extends z.ZodType, H extends z.ZodType, B extends z.ZodType> {
  http?: Partial<HttpBinding>;
  access?: Rpc['access'];
  errors?: Rpc['errors'];
  /** Query parameters; unknown ones are refused. */
  query?: Q;
  /** Request headers that the operation reads, by their lower-case names. */
  headers?: H;
  /** JSON body; without one, an absent or empty body is accepted. */
  body?: B;
}

const READING = { scope: 'read', relation: 'visible' } as const;
const WRITING = { scope: 'write', relation: 'owner' } as const;
/** What any account may read. */
export const OF_ACCOUNT = { scope: 'read', relation: 'account' } as const;

/**
 * Makes the RPCs that the gateway offers over HTTP below one path. Their replies hold the members of the success envelope
 * (docs/gateway.md). Who can see a thing may list and read it, its owner may write and remove it, unless `access` says
 * otherwise.
 */
export function operationsAt<P extends z.ZodType = Nothing>(
  root: string,
  tag: string,
  shared: Shared<P> = {},
) {
  const operation = <R extends z.ZodType, Q extends z.ZodType, H extends z.ZodType, B extends z.ZodType>(
    http: Pick<HttpBinding, 'method' | 'path' | 'summary'>,
    { access, errors = [], ...parts }: Parts<Q, H, B> & Pick<Rpc, 'access'>,
    reply: R,
  ) =>
    ({
      http: { status: 200, tag, ...http, path: `${root}${http.path}`, ...parts.http },
      access,
      errors: [...(shared.errors ?? []), ...errors],
      request: z.strictObject({
        params: (shared.params ?? nothing) as P,
        query: (parts.query ?? nothing) as Q,
        headers: (parts.headers ?? nothing) as H,
        body: (parts.body ?? nothing) as B,
      }),
      reply,
    }) satisfies Rpc;
  const reading = { access: shared.access ?? READING };
  const writing = { access: shared.access ?? WRITING };

  return {
    /** One page of a list. */
    list: <
      D extends z.ZodType,
      Q extends z.ZodType = typeof pageQuery,
      P extends z.ZodType = typeof pagination,
    >(
      path: string,
      summary: string,
      {
        item,
        query,
        errors = [],
        pagination: which,
        ...parts
      }: Parts<Q, Nothing, Nothing> & { item: D; pagination?: P },
    ) => {
      const paged = {
        query: query ?? (pageQuery as z.ZodType as Q),
        errors: [...errors, 'page_too_deep'] as const,
      };
      return operation(
        { method: 'GET', path, summary },
        { ...reading, ...parts, ...paged },
        pageOf(item, which ?? (pagination as z.ZodType as P)),
      );
    },
    read: <D extends z.ZodType, Q extends z.ZodType = Nothing, H extends z.ZodType = Nothing>(
      path: string,
      summary: string,
      { data, ...parts }: Parts<Q, H, Nothing> & { data: D },
    ) => operation({ method: 'GET', path, summary }, { ...reading, ...parts }, answerOf(data)),
    write: <
      D extends z.ZodType,
      Q extends z.ZodType = Nothing,
      H extends z.ZodType = Nothing,
      B extends z.ZodType = Nothing,
    >(
      method: 'POST' | 'PUT',
      path: string,
      summary: string,
      { data, ...parts }: Parts<Q, H, B> & { data: D },
    ) => operation({ method, path, summary }, { ...writing, ...parts }, outcomeOf(data)),
    /** Changes the thing itself, where it still has the `ETag` that the caller names; answers its next one. */
    update: <D extends z.ZodType, B extends z.ZodType>(
      summary: string,
      { data, errors = [], ...parts }: Parts<Nothing, Nothing, B> & { data: D },
    ) =>
      operation(
        { method: 'PUT', path: '', summary },
        { ...writing, ...parts, headers: ifMatch, errors: [...errors, 'revision_mismatch'] as const },
        outcomeOf(data).extend({ etag }),
      ),
    /** Once for its Idempotency-Key. `named`: the member of the answer that names the new thing below this path. */
    create: <D extends z.ZodType, B extends z.ZodType>(
      summary: string,
      { data, named, errors = [], ...parts }: Parts<Nothing, Nothing, B> & { data: D; named?: string },
    ) => {
      const location: HttpBinding['location'] = ({ params }, created) =>
        requestPath({ path: `${root}/:created` }, { ...params, created: created[named ?? 'name'] });
      const http = { status: 201, location, ...parts.http } as const;
      const once = { headers: idempotentHeaders, errors: [...errors, 'idempotency_key_reused'] as const };
      return operation(
        { method: 'POST', path: '', summary },
        { ...writing, ...parts, ...once, http },
        outcomeOf(data),
      );
    },
    remove: <Q extends z.ZodType = Nothing, H extends z.ZodType = Nothing>(
      summary: string,
      parts: Parts<Q, H, Nothing> = {},
    ) => operation({ method: 'DELETE', path: '', summary }, { ...writing, ...parts }, answerOf(deleted)),
  };
}

const message = z.string().optional().describe('What the request did, for people.');
const warnings = z
  .array(definitionProblem)
  .max(MAX_FOUND)
  .optional()
  .describe('Likely mistakes in what was sent, which are allowed; absent without any.');
/** The gateway makes the header of it, and reads it at the end of a reply. */
const etag = z.string();

const answerOf = <D extends z.ZodType>(data: D) => z.strictObject({ data, message });
/** The answer to what sends something. */
const outcomeOf = <D extends z.ZodType>(data: D) => z.strictObject({ data, message, warnings });

/** The same operation, of which every answer has an `ETag`. */
export const withETag = <O extends object, S extends z.core.$ZodLooseShape>(
  operation: O & { reply: z.ZodObject<S, z.core.$strict> },
) => ({ ...operation, reply: operation.reply.extend({ etag }) });

/** The same reading operation, whose answers tell likely mistakes in what was asked for. */
export const withAdvice = <O extends object, S extends z.core.$ZodLooseShape>(
  operation: O & { reply: z.ZodObject<S, z.core.$strict> },
) => ({
  ...operation,
  reply: operation.reply.extend({
    warnings: warnings.describe(
      'Likely mistakes in what was asked for, which is answered all the same. Told to the owner of the deployment; absent ' +
        'without any.',
    ),
  }),
});

const pageOf = <D extends z.ZodType, P extends z.ZodType>(item: D, pages: P) =>
  z.strictObject({
    data: z.array(item).max(MAX_LIMIT).describe('The items of this page.'),
    pagination: pages.describe('Which part of the list this page is.'),
  });

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
