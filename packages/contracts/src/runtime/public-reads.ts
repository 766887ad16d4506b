import { z } from 'zod';
import { jsonObject } from '../json/json-schemas.js';
import { DEPLOYMENT_PATH, deploymentInPath } from '../names/names.js';
import { MOST_CONTENT } from '../records/content-limits.js';
import {
  address,
  count,
  ordinal,
  recordId,
  recordTimes,
  sha256,
  soughtNameInQuery,
  storedName,
} from '../records/fields.js';
import { operationsAt } from '../rpc/operation.js';
import { defineContract, type HttpBinding, type Rpc, rpc } from '../rpc/rpc.js';
import { checkpointRpcs } from './checkpoints.js';
import { deploymentRecord } from './deployments.js';
import { type HistoryEntry, historyEntry, historyRpcs, keptDefinitionRpcs } from './history.js';
import { instanceRpcs } from './instances.js';
import { hashedEntry } from './journal.js';
import { LIFECYCLE_KINDS } from './lifecycle.js';
import { liveContract, publicEvents } from './live-executions.js';
import { queryRpcs } from './queries.js';

const publicEvent = z
  .strictObject({
    event: storedName.describe('Name of the event.'),
    description: z
      .string()
      .nullable()
      .describe('What the event is, for people. Null: it has no description, or its world is not published.'),
    eventVersion: ordinal.describe('Number of the bound version.'),
    versionHash: sha256.describe('Hash of that version.'),
    priceUsd: z.number().min(0).describe('US dollars that an execution costs. 0: nothing.'),
    payerMayCall: z
      .boolean()
      .describe(
        'Whether a payment alone may execute it: who pays is the caller, and no wallet signs a message.',
      ),
    inputSchema: jsonObject
      .nullable()
      .optional()
      .describe(
        'What the input has to be, as JSON Schema 2020-12. Null: any object. Absent: all contracts together are too large ' +
          'for one answer, so ask for this event alone, with `event`.',
      ),
  })
  .meta({ id: 'PublicEvent', description: 'An event that wallets may execute.' });
export type PublicEvent = z.infer<typeof publicEvent>;

const { name, description, mode, isPaused, isLLMPublic, isCodePublic, lockedAt, definitionHash, source } =
  deploymentRecord.shape;

export const publicDeployment = z
  .strictObject({
    id: recordId.describe('Numeric id. Paths take it in place of the address.'),
    address: address.describe('Address of the deployment.'),
    name,
    description,
    world: z
      .strictObject({
        address: address.describe('Address of the world.'),
        name: storedName.describe('Name of the world.'),
        description: z
          .string()
          .nullable()
          .describe('What the world is, for people. Null: it has no description, or is not published.'),
        domainTags: z.array(z.string()).max(64).describe('Tags of the world.'),
      })
      .nullable()
      .describe('The world that is deployed. Null: it is gone.'),
    mode,
    isPaused,
    isLLMPublic,
    isCodePublic,
    lockedAt,
    definitionHash,
    source,
    events: z
      .array(publicEvent)
      .max(MOST_CONTENT.bindingsPerDeployment)
      .describe('The bound events that wallets may execute.'),
    entitySchemas: z
      .array(storedName)
      .max(500)
      .describe('Names of the entity schemas that have instances, in alphabetical order.'),
    totals: z
      .strictObject({
        instances: count.describe('Entity instances.'),
        entries: count.describe('Entries of the journal.'),
        executions: count.describe('Executions, failed ones too.'),
      })
      .describe('How much there is.'),
    ...recordTimes,
  })
  .meta({ id: 'PublicDeployment', description: 'A published deployment as anyone sees it.' });
export type PublicDeployment = z.infer<typeof publicDeployment>;

export const publicEntry = z
  .strictObject({
    ...historyEntry.shape,
    input: jsonObject
      .optional()
      .describe('Input of the execution. Absent for lifecycle entries: it holds settings.'),
  })
  .meta({ id: 'PublicHistoryEntry', description: 'An entry of the journal as anyone sees it.' });
export type PublicEntry = z.infer<typeof publicEntry>;

const { 'history.list': list, 'history.get': get, 'history.verify': verify } = historyRpcs;
const publicEntries = z.array(publicEntry).max(100).describe('The items of this page.');

/** What the gateway asks of the runtime about published deployments, on behalf of nobody. */
export const publishedRpcs = {
  /**
   * Where published deployments are and the hash of each journal's last entry, in the order of the request; null for what is
   * not there or not published. With `withinMs` those whose databases do not answer within that time are named by their
   * places in `unasked`, which a runtime of an earlier release does not do; without it they fail the whole call.
   */
  'deployments.published': rpc({
    request: z.object({
      deployments: z.array(z.string().max(64)).max(500),
      withinMs: z.int().positive().optional(),
    }),
    reply: z.object({
      deployments: z.array(z.object({ address, worldAddress: address, head: sha256 }).nullable()),
      unasked: z.array(z.int().nonnegative()).optional(),
    }),
  }),
  'deployments.describe': rpc({
    errors: ['deployment_not_found'],
    request: z.object({
      params: z.object({ worldAddress: z.string(), address: z.string() }),
      query: z.object({ event: z.string().optional() }),
      headers: z.object({}),
      body: z.object({}),
    }),
    reply: z.object({ data: publicDeployment }),
  }),
  /** The last member tells whether an entry of the page can change without another entry. */
  'history.published': rpc({
    errors: list.errors,
    request: list.request,
    reply: list.reply.extend({ data: publicEntries, isMoving: z.boolean() }),
  }),
};

const publicHashedEntry = z
  .strictObject({ ...hashedEntry.shape, input: publicEntry.shape.input, hash: historyEntry.shape.hash })
  .meta({ id: 'PublicHashedEntry', description: 'What the hash of an entry covers, and the hash.' });

/** An entry as anyone sees it: the input of a lifecycle entry holds settings. */
export function asAnyoneSees({ input, ...entry }: HistoryEntry): PublicEntry {
  return LIFECYCLE_KINDS.has(entry.kind) ? entry : { ...entry, input };
}

/** Whether how its pushes or its payment stand may change: they go on after their entry. */
export const isUnsettled = ({ pushes, payment }: PublicEntry): boolean =>
  (payment !== null && !isFinal(payment)) ||
  pushes.some(({ status }) => status !== 'finalized' && status !== 'cancelled');

/** One that was refused or released may be charged all the same: then its refund is due. */
const isFinal = ({ status, transaction }: NonNullable<PublicEntry['payment']>): boolean =>
  status === 'settled' ? transaction !== null : status === 'uncollected';

/** Of an entry what its hash covers, and the hash: this never changes. */
export const hashedMembersOf = (entry: PublicEntry): z.infer<typeof publicHashedEntry> =>
  Object.fromEntries(
    Object.keys(publicHashedEntry.shape).flatMap((member) => {
      const value = entry[member as keyof PublicEntry];
      return value === undefined ? [] : [[member, value]];
    }),
  ) as z.infer<typeof publicHashedEntry>;

const PATH = '/app/deployments/:address';
const TAG = 'Reading without a key';
const PUBLIC = { scope: 'none', relation: 'public' } as const;
const addressInPath = z
  .string()
  .max(64)
  .describe(deploymentInPath.description ?? '');

type Named = Rpc & { http: HttpBinding };
type Parts = z.ZodObject<{ params: z.ZodObject; query: z.ZodObject }>;

/**
 * An operation of `/api` that anyone may use on a published deployment: the same request without the world in its path,
 * the same handler. `more` are query parameters of its own.
 */
function opened(
  name: string,
  { http, request, reply, errors }: Named,
  own: { summary: string; reply?: z.ZodType; more?: z.ZodRawShape },
): Named {
  const { params, query, ...rest } = (request as Parts).shape;
  return {
    http: {
      ...http,
      opens: name,
      path: http.path.replace(DEPLOYMENT_PATH, PATH),
      tag: TAG,
      summary: own.summary,
    },
    access: PUBLIC,
    errors,
    request: z.strictObject({
      params: z.strictObject({ ...params.omit({ worldAddress: true }).shape, address: addressInPath }),
      query: own.more === undefined ? query : query.safeExtend(own.more),
      ...rest,
    }),
    reply: own.reply ?? reply,
  };
}

const openedStream = opened('deployments.stream', liveContract.rpcs['deployments.stream'], {
  summary: 'Stream the executions of a published deployment as they commit',
});

/** Answered by the gateway itself, which asks the runtime the operation that each of them opens. */
export const readingContract = defineContract('gateway', {
  'public.get': operationsAt(PATH, TAG, {
    access: PUBLIC,
    params: z.strictObject({ address: addressInPath }),
    errors: ['deployment_not_found'],
  }).read('', 'Get a published deployment and the events that wallets may execute', {
    http: { opens: 'deployments.describe' },
    query: z.strictObject({
      event: soughtNameInQuery
        .optional()
        .describe('Name of an event: of `events` only this one is answered.'),
    }),
    data: publicDeployment,
  }),
  'public.instances': opened('instances.list', instanceRpcs['instances.list'], {
    summary: 'List or search the entity instances of a published deployment',
  }),
  'public.aggregate': opened('instances.aggregate', queryRpcs['instances.aggregate'], {
    summary: 'Count, add up and group the entity instances of a published deployment',
  }),
  'public.rank': opened('instances.rank', queryRpcs['instances.rank'], {
    summary: 'Get the place of an entity instance of a published deployment in an order',
  }),
  'public.instance': opened('instances.get', instanceRpcs['instances.get'], {
    summary: 'Get an entity instance of a published deployment',
  }),
  'public.history': opened('history.list', list, {
    summary: 'List the executions of a published deployment, newest first',
    reply: list.reply.extend({ data: publicEntries }),
  }),
  'public.verify': opened('history.verify', verify, {
    summary: 'Verify the hash chain and the replayed state of a published deployment',
  }),
  'public.entry': opened('history.get', get, {
    summary: 'Get a history entry of a published deployment',
    more: {
      hashed: z
        .literal('true')
        .optional()
        .describe(
          '`true`: only what `hash` covers, and the hash. That never changes, so it may be kept for ever.',
        ),
    },
    reply: get.reply.extend({ data: z.union([publicEntry, publicHashedEntry]) }),
  }),
  'public.head': opened('history.head', checkpointRpcs['history.head'], {
    summary: 'Get a signed checkpoint of the journal of a published deployment',
  }),
  'public.proof': opened('history.proof', checkpointRpcs['history.proof'], {
    summary: 'Prove that a checkpoint of a published deployment covers an entry',
  }),
  'public.consistency': opened('history.consistency', checkpointRpcs['history.consistency'], {
    summary: 'Prove that a checkpoint of a published deployment extends an earlier one',
  }),
  'public.definition': opened('definitions.get', keptDefinitionRpcs['definitions.get'], {
    summary: 'Get the definition that an execution of a published deployment ran, as it was then',
  }),
  'public.stream': {
    ...openedStream,
    http: { ...openedStream.http, stream: publicEvents },
  },
});
