import type { paths } from '../generated/api.js';

export type Method = 'get' | 'post' | 'put' | 'delete';

/** The paths that have the method. */
export type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends { [K in M]: object } ? P : never;
}[keyof paths];

export type OperationOf<M extends Method, P extends PathOf<M>> = paths[P] extends { [K in M]: infer O }
  ? O
  : never;

type AnswerIn<R> = {
  [S in keyof R]: R[S] extends { content: { 'application/json': infer Body } } ? Body : never;
}[keyof R];

/** The envelope that the operation answers. */
export type AnswerOf<O> = O extends { responses: infer R } ? AnswerIn<R> : never;

/** What the operation answers, out of its envelope. */
export type DataOf<O> = AnswerOf<O> extends { data: infer D } ? D : never;

/** The path parameters, the query and the body that the operation takes. */
export type ArgumentsOf<O> = PathArgument<O> & QueryArgument<O> & BodyArgument<O>;

type PathArgument<O> = O extends { parameters: { path: infer T } } ? { path: T } : { path?: never };
type QueryArgument<O> = O extends { parameters: { query: infer T } }
  ? { query: T }
  : O extends { parameters: { query?: infer T } }
    ? [T] extends [never]
      ? { query?: never }
      : { query?: T }
    : { query?: never };
type BodyArgument<O> = O extends { requestBody: { content: { 'application/json': infer T } } }
  ? { body: T }
  : O extends { requestBody?: { content: { 'application/json': infer T } } }
    ? { body?: T }
    : { body?: never };

export interface RequestOptions {
  /** Ends the request and its retries; the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Names this execution or creation; a key is made where there is none. A repetition with the same key gets the first
   * answer, for 24 hours: pass one that you have stored where a repetition may come from a later process.
   */
  readonly idempotencyKey?: string | undefined;
  /** Called each time that a part of the answer has arrived. */
  readonly onBytes?: (() => void) | undefined;
  /** More headers, such as `If-Match`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export type InitOf<O> = ArgumentsOf<O> & RequestOptions;
/** The last argument of a request: it may be left out where nothing in it is required. */
export type InitArgument<O> = object extends ArgumentsOf<O> ? [init?: InitOf<O>] : [init: InitOf<O>];
