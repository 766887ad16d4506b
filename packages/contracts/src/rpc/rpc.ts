import { z } from 'zod';
import type { ErrorCode } from '../errors/service-error.js';
import type { ContentLimits } from '../records/content-limits.js';
import { withinNfcBudget } from '../records/fields.js';
import { bodyMustBeArray, noArray, problemsOf, refusal, refusedHttp } from './request-problems.js';

/** What a handler knows about the call it answers. */
export interface CallContext {
  caller: Caller;
  requestId: string;
  /** Names the client's request alone, unlike `requestId`, which clients may choose; only executions have one. */
  callId?: string | undefined;
  /** The caller does not wait for a run that an execution becomes: it is told its id, and asks for the answer by itself. */
  leavesRun?: boolean | undefined;
  /**
   * The id of the database that the call is for, by the runtime process that passes it on: the process that is called answers
   * with what is in its own database and passes the call to no other one.
   */
  home?: string | undefined;
  /** After it the caller waits no longer; in milliseconds, by the monotonic clock of this process. */
  deadline: number;
  /** Aborted when the caller went away, the deadline passed or the service stops. */
  signal: AbortSignal;
}

/** What a key may do. */
export const scope = z.enum(['read', 'write', 'execute', 'keys']);
export type Scope = z.infer<typeof scope>;

/** On whose behalf a call is made; it travels in the headers of every call and is set by the gateway alone. */
export const caller = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('account'), accountId: z.int(), scopes: z.array(scope) }),
  z.object({ kind: z.literal('wallet'), wallet: z.string() }),
  z.object({ kind: z.literal('schedule'), event: z.string() }),
  z.object({ kind: z.literal('service'), service: z.string() }),
  z.object({ kind: z.literal('anonymous') }),
]);
export type Caller = z.infer<typeof caller>;

/** The account behind a call; `undefined` for wallets, schedules, services and anonymous calls. */
export const accountOf = (who: Caller): number | undefined =>
  who.kind === 'account' ? who.accountId : undefined;

/** The `caller` of a journal entry: `account:7`, `wallet:<stored form>`, `schedule:<event>`. */
export function callerName(who: Caller): string {
  switch (who.kind) {
    case 'account':
      return `account:${who.accountId}`;
    case 'wallet':
      return `wallet:${who.wallet}`;
    case 'schedule':
      return `schedule:${who.event}`;
    case 'service':
      return `service:${who.service}`;
    case 'anonymous':
      return 'anonymous';
  }
}

/**
 * Who may call. The gateway checks `scope` against the key, the service that owns the row checks `relation`:
 * `account` any account; `visible` who can see the thing; `owner` its owner alone; `public` no token at all;
 * `internal` services only, never routed by the gateway.
 */
export interface Access {
  scope: Scope | 'none';
  relation: 'account' | 'visible' | 'owner' | 'public' | 'internal';
}

export interface HttpBinding {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** With `:name` parameters. */
  path: string;
  status: 200 | 201 | 202;
  tag: string;
  summary: string;
  /**
   * Bytes that the body may have as JSON without spaces and escapes, under the operator's limits; the gateway refuses what
   * cannot fit before it is parsed. Without it the body has the gateway's general limit; an operation without a body needs none.
   */
  bodyBytes?: (limits: ContentLimits) => number;
  /** `Location` of what was created or accepted. */
  location?: (
    request: { params: Record<string, string> },
    data: Record<string, unknown>,
  ) => string | undefined;
  /** The answers that only say that the work was taken on: 202 in place of `status`. `is` tells it from the others. */
  accepted?: { data: readonly z.ZodType[]; is: (data: Record<string, unknown>) => boolean };
  /** Answered as server-sent events: the data of each event, by the event's name. */
  stream?: Readonly<Record<string, z.ZodType>>;
  /** Signed by a wallet in its body; the gateway verifies that, and codes payments in its headers. */
  signed?: true;
  /** Anyone may ask it of a published deployment: the name of the runtime's RPC that answers it. */
  opens?: string;
}

export interface Rpc<Request extends z.ZodType = z.ZodType, Reply extends z.ZodType = z.ZodType> {
  request: Request;
  reply: Reply;
  /** The codes this RPC answers beyond `validation_failed`, `unauthorized`, `forbidden`, `rate_limited` and the 5xx. */
  errors: readonly ErrorCode[];
  access: Access;
  http?: HttpBinding;
}

/** An RPC as its contract names it: who serves it, under which name and subject. */
export type NamedRpc<R extends Rpc = Rpc> = R & { service: string; name: string; subject: string };

export interface Contract<Rpcs extends Record<string, Rpc> = Record<string, Rpc>> {
  service: string;
  rpcs: { [Name in keyof Rpcs]: NamedRpc<Rpcs[Name]> };
}

/** An RPC that is no HTTP operation: services alone call it, unless `access` says otherwise. */
export const rpc = <Request extends z.ZodType, Reply extends z.ZodType>(
  definition: Pick<Rpc<Request, Reply>, 'request' | 'reply'> & Partial<Rpc<Request, Reply>>,
): Rpc<Request, Reply> => ({
  access: { scope: 'none', relation: 'internal' },
  errors: [],
  ...definition,
});

/** Names the RPCs of one service; subjects are made here and typed nowhere else. */
export function defineContract<Rpcs extends Record<string, Rpc>>(
  service: string,
  rpcs: Rpcs,
): Contract<Rpcs> {
  const named = Object.entries(rpcs).map(([name, definition]) => [
    name,
    { ...definition, service, name, subject: `orrery.${service}.${name}` },
  ]);
  return { service, rpcs: Object.fromEntries(named) };
}

export type RequestOf<R extends Rpc> = z.output<R['request']>;
export type ReplyOf<R extends Rpc> = z.output<R['reply']>;

/** A handler's answer is what the reply schema takes in, so that defaults may be left out. */
export type Handler<R extends Rpc> = (
  request: RequestOf<R>,
  context: CallContext,
) => Promise<z.input<R['reply']>>;

/** One handler for each RPC: a forgotten one does not compile. */
export type Handlers<Rpcs extends Record<string, Rpc>> = { [Name in keyof Rpcs]: Handler<Rpcs[Name]> };

/** A fact on the bus, published after the commit that made it true. */
export interface Message<Payload extends z.ZodType = z.ZodType> {
  /** Service that publishes it. */
  service: string;
  name: string;
  subject: string;
  payload: Payload;
}

export const defineMessage = <Payload extends z.ZodType>(
  service: string,
  name: string,
  payload: Payload,
): Message<Payload> => ({ service, name, subject: `orrery.facts.${service}.${name}`, payload });

export type PayloadOf<M extends Message> = z.output<M['payload']>;

/** The request as the RPC's schema makes it. @throws ServiceError `validation_failed` or `body_must_be_array`, with pointers. */
export function parseRequest<R extends Rpc>(rpc: R, request: unknown): RequestOf<R> {
  const { success, data, error } = withinNfcBudget(() => rpc.request.safeParse(request));
  if (success) return data as RequestOf<R>;
  const problems = problemsOf(error, rpc.request, request);
  if (rpc.http === undefined) throw refusal(problems, 'The request');
  if (bodyMustBeArray(error)) throw noArray();
  throw refusedHttp(problems);
}

/** Parses or throws `validation_failed` with a pointer per problem. */
export function parseOrRefuse<T extends z.ZodType>(schema: T, value: unknown): z.output<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw refusal(problemsOf(parsed.error), 'The request');
}

/** Whether a `Prefer` header asks for an answer before the work is done (RFC 7240 §4.1). */
export const prefersAsync = (prefer: string | undefined): boolean =>
  prefer
    ?.split(',')
    .some((preference) => preference.split(';', 1)[0]?.trim().toLowerCase() === 'respond-async') ?? false;
