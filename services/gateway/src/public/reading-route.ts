import {
  asAnyoneSees,
  type HistoryEntry,
  hashedMembersOf,
  isUnsettled,
  parseRequest,
  runtimeContract,
  ServiceError,
} from '@orrery/contracts';
import { FairSlots, withinTime } from '@orrery/service-kit';
import type { FastifyInstance } from 'fastify';
import { clientSubject } from '../core/clients/clients.js';
import { isNamed, movingOf, namesAny, tagOfHead, tagOfText } from '../core/requests/entity-tags.js';
import type { GatewayCall, OperationReply, RoutedRpc } from '../core/requests/operation.js';
import { requestSchema } from '../core/requests/request-schema.js';
import { boundEach } from '../http/load/bound-each.js';
import type { RateContext } from '../http/rates/limiter.js';
import { envelopeOf } from '../http/routes/dispatch.js';
import { callOf, type RouteContext, readRequest, routeOf } from '../http/routes/operation-route.js';
import { type FindPublished, linksFor, type Published } from './published.js';

export interface ReadingRouteContext extends RouteContext {
  findPublished: FindPublished;
  rates: RateContext['rates'];
}

/** A request below `/app`, as the operation that it opens takes it. */
interface Asked {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
}

/** What strangers are answered. */
interface Shown {
  /** The reply as JSON, without the envelope. */
  readonly text: string;
  /** Whether it can change without an entry of the journal. */
  readonly isMoving: boolean;
  readonly isForEver?: boolean;
}

/**
 * Makes a route that reads a published deployment for anyone. An answer that follows from the journal has an entity tag of
 * the journal's head: whether it still holds is known without reading a row of it.
 */
export function addReadingRoute(app: FastifyInstance, rpc: RoutedRpc, context: ReadingRouteContext): void {
  const schema = requestSchema(rpc);
  const ask = createReading(rpc, context);
  const verifying = verificationsInTurn(context);
  app.route({
    ...routeOf(app, rpc, schema, context),
    handler: async (http, reply) => {
      const request = readRequest(http, schema);
      parseRequest(rpc, request);
      const published = await context.findPublished((request.params as Asked['params'])['address'] ?? '');
      const ofHead = tagOfHead(published.head, http.url);
      const { 'if-none-match': known } = http.headers;
      reply.header('cache-control', 'no-cache').header('link', linksFor(published.address));
      if (isNamed(ofHead, known)) return reply.code(304).header('etag', ofHead).send();
      const call = callOf(http, reply, context);
      const asking = () => ask(request as Asked, published, call);
      const shown = await (rpc.http.opens === 'history.verify'
        ? verifying(clientSubject(http.ip), call, asking)
        : asking());
      const { isMoving, isForEver } = shown;
      const text = envelopeOf(shown.text).body;
      const tag = isMoving ? tagOfText(text) : ofHead;
      reply.header('etag', tag);
      if (isForEver) reply.header('cache-control', 'public, max-age=31536000, immutable');
      if (isNamed(tag, known) || namesAny(known)) return reply.code(304).send();
      return reply.type('application/json; charset=utf-8').send(text);
    },
  });
}

export type Reading = (request: Asked, published: Published, call: GatewayCall) => Promise<Shown>;

/** Verifications for strangers in this process; the database allows one of a deployment, and owners verify, too. */
const VERIFICATIONS_AT_ONCE = 1;
/** Of one client address: one that runs and one that waits. */
const VERIFICATIONS_OF_ONE = 2;

/** Client addresses verify in turn, and none waits for longer than its deadline. */
function verificationsInTurn({ clock, rates }: Pick<ReadingRouteContext, 'clock' | 'rates'>) {
  const slots = new FairSlots(VERIFICATIONS_AT_ONCE);
  const most = rates === undefined ? Number.POSITIVE_INFINITY : VERIFICATIONS_OF_ONE;
  const ofOne = boundEach(most, () => {
    const facts = { retryAfterSeconds: 5 };
    return new ServiceError('rate_limited', 'A verification of this client address runs, and one waits.', {
      facts,
    });
  });
  return async <T>(who: string, { deadline, signal }: GatewayCall, verify: () => Promise<T>): Promise<T> => {
    const leave = ofOne(who);
    try {
      return await withinTime(clock, deadline - clock.monotonic(), signal, (either) =>
        slots.run(who, either, verify),
      );
    } finally {
      leave();
    }
  };
}

/** Asks the operation that `rpc` opens, on behalf of nobody. A list passes through as the text that it comes as. */
export function createReading(
  { http }: Pick<RoutedRpc, 'http'>,
  { call: ask }: Pick<RouteContext, 'call'>,
): Reading {
  const { opens = '' } = http;
  const { name = opens, isRead = false, show } = SHOWN[opens] ?? { show: asItCame };
  // Every name that a contract opens is one of the runtime's: a test asks all of them.
  const opened = { ...runtimeContract.rpcs[name as 'history.list'], http } as unknown as RoutedRpc;
  return async ({ params, query: given }, { address, worldAddress }, call) => {
    const { hashed, ...query } = given;
    const request = { params: { ...params, worldAddress, address }, query, headers: {}, body: {} };
    const reply = await ask(opened, request, { ...call, passesOn: !isRead });
    return show(reply, hashed !== undefined);
  };
}

type Show = (reply: OperationReply, isHashed: boolean) => Shown;

const textOf = ({ text, data, message, pagination }: OperationReply): string =>
  text ?? JSON.stringify({ data, message, pagination });

const asItCame: Show = (reply) => ({ text: textOf(reply), isMoving: false });
const moving: Show = (reply) => ({ text: textOf(reply), isMoving: true });
const forEver: Show = (reply) => ({ text: textOf(reply), isMoving: false, isForEver: true });

/** Payments and pushes go on after their entry; drafts, the world and the keys of the operator change without one. */
const SHOWN: Readonly<Record<string, { show: Show; name?: string; isRead?: boolean }>> = {
  'deployments.describe': { show: moving },
  'history.verify': { show: moving },
  'history.head': { show: moving },
  'history.proof': { show: forEver },
  'history.consistency': { show: forEver },
  'history.list': { name: 'history.published', show: (reply) => movingOf(textOf(reply)) },
  'history.get': {
    isRead: true,
    show: ({ data }, isHashed) => {
      const entry = asAnyoneSees(data as HistoryEntry);
      if (!isHashed) return { text: textOf({ data: entry }), isMoving: isUnsettled(entry) };
      return { text: textOf({ data: hashedMembersOf(entry) }), isMoving: false, isForEver: true };
    },
  },
};
