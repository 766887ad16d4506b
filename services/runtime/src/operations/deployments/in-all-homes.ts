import {
  accountOf,
  type CallContext,
  catalogContract,
  type DeploymentRecord,
  type Handlers,
  type homeRpcs,
  type NamedRpc,
  type ReplyOf,
  type RequestOf,
  type Rpc,
  readOccurrenceKey,
  refuseDeepPage,
  runtimeContract,
  ServiceError,
} from '@orrery/contracts';
import { whereItLives } from '../../lane/ownership/route-to-home.js';
import { listDeploymentsHere, paginationOfCounted } from '../../store/deployments/list-deployments.js';
import { databaseOfCreation } from '../../store/leases/creations.js';
import { PARTITIONS } from '../../store/leases/leases.js';
import type { RuntimeContext } from '../context.js';
import { keyedCreation } from './create-deployment.js';
import { publishedByPlace, within } from './published-by-place.js';
import { recordFor } from './record-for.js';

type Rpcs = typeof runtimeContract.rpcs;
const { rpcs } = runtimeContract;

/** What each database has a part in. */
type Part =
  | 'deployments.list'
  | 'deployments.create'
  | 'deployments.published'
  | 'journal.heads'
  | 'executions.acknowledge';

/**
 * Answers that are put together from those of all databases, each by a process that serves it; `here` are the handlers for
 * this process's own. One that nobody serves makes the whole answer `unavailable`: a list is never shorter for it. Which
 * deployments are published is answered for each by itself, since the readers of many share a call.
 */
export const inAllHomes = (
  context: RuntimeContext,
  here: Handlers<Pick<Rpcs, Part> & typeof homeRpcs>,
): Handlers<Pick<Rpcs, Part>> => ({
  'deployments.list': (request, call) => listAll(context, here, request, call),
  'deployments.create': async (request, call) => {
    const home = await homeOfCreation(context, request, call);
    if (home !== context.homes.id) return context.homes.call(rpcs['deployments.create'], request, call, home);
    const create = here['deployments.create'];
    const reference = request.body.sourceDeployment;
    if (reference === undefined) return create(request, call);
    const asked = { name: 'deployments.create', reference, here: create };
    return (await whereItLives(context.homes, asked, request as never, call)) as ReplyOf<Creation>;
  },
  'deployments.published': async (request, call) => {
    const { deployments, withinMs } = request;
    if (withinMs !== undefined) {
      const sooner = within(context.clock, withinMs, call);
      return publishedByPlace(context, request, withinMs, (home, asked) =>
        ask(context, here, 'deployments.published', asked, sooner, home),
      );
    }
    const homes = await Promise.all(deployments.map((one) => context.homes.homeOf(one)));
    const answers = await partsOf(context, homes, async (home, places) => {
      const asked = { deployments: places.map((place) => deployments[place] ?? '') };
      const answer = await ask(context, here, 'deployments.published', asked, call, home);
      return answer.deployments;
    });
    return { deployments: deployments.map((_, place) => answers.get(place) ?? null) };
  },
  'journal.heads': (request, call) => headsInTurn(context, here, request, call),
  'executions.acknowledge': async ({ occurrences }, call) => {
    const names = occurrences.map((key) => readOccurrenceKey(key)?.deployment ?? '');
    const homes = await Promise.all(names.map((name) => context.homes.homeOf(name)));
    await partsOf(context, homes, async (home, places) => {
      const asked = { occurrences: places.map((place) => occurrences[place] ?? '') };
      await ask(context, here, 'executions.acknowledge', asked, call, home);
      return [];
    });
    return null;
  },
});

/** Asks one database: its processes, or this one. */
function ask<Name extends Part | 'homes.deployments'>(
  { homes }: RuntimeContext,
  here: Handlers<Pick<Rpcs, Name>>,
  name: Name,
  request: RequestOf<Rpcs[Name]>,
  call: CallContext,
  home: string,
): Promise<ReplyOf<Rpcs[Name]>> {
  const rpc = rpcs[name] as unknown as NamedRpc<Rpc>;
  return home === homes.id
    ? (here[name](request, call) as Promise<ReplyOf<Rpcs[Name]>>)
    : (homes.call(rpc, request, call, home) as Promise<ReplyOf<Rpcs[Name]>>);
}

/** Groups things by their databases, asks each for its own at once, and answers by place. What has no database is asked here. */
async function partsOf<T>(
  { homes }: RuntimeContext,
  databases: readonly (string | undefined)[],
  work: (home: string, places: readonly number[]) => Promise<readonly T[]>,
): Promise<Map<number, T>> {
  const groups = Map.groupBy(databases.keys(), (place) => databases[place] ?? homes.id);
  const answers = await Promise.all(
    [...groups].map(async ([home, places]) => {
      const found = await work(home, places);
      return places.flatMap((place, at): [number, T][] => {
        const one = found[at];
        return one === undefined ? [] : [[place, one]];
      });
    }),
  );
  return new Map(answers.flat());
}

type List = Rpcs['deployments.list'];

/** Lists until nothing has moved or gone meanwhile: each is asked of one database, so none is missing or counted twice. */
async function listAll(
  context: RuntimeContext,
  here: Handlers<typeof homeRpcs>,
  { params, query }: RequestOf<List>,
  call: CallContext,
): Promise<ReplyOf<List>> {
  refuseDeepPage(query);
  const { bus, homes, clock } = context;
  const path = { params: { idOrAddress: params.worldAddress }, query: {}, headers: {}, body: {} };
  const { data: world } = await bus.call(catalogContract.rpcs['worlds.get'], path, call);
  const of = { worldId: world.id, accountId: accountOf(call.caller) ?? null };
  for (;;) {
    const list = await listOnce(context, here, of, query, call);
    if (list !== undefined) return list;
    if (clock.monotonic() >= call.deadline) throw new ServiceError('unavailable');
    await clock.sleep(MOVING_MS, call.signal);
    await homes.read();
  }
}

/** While a partition is on its way, the pause until it is looked for again, in milliseconds. */
const MOVING_MS = 50;

/**
 * The ids of the first ones of each database say which are on the page; their records come from where they live. `undefined`
 * where a partition does not live where the directory said when it was read, or one of the page was deleted meanwhile: readers
 * take a page that is not full for the last one.
 */
async function listOnce(
  context: RuntimeContext,
  here: Handlers<typeof homeRpcs>,
  of: { readonly worldId: number; readonly accountId: number | null },
  query: RequestOf<List>['query'],
  call: CallContext,
): Promise<ReplyOf<List> | undefined> {
  const { homes } = context;
  const end = query.page * query.limit;
  let moves = false;
  const askOne = async (home: string, wanted: { most: number; ids: number[] | null }) => {
    const asked = { ...of, ...wanted, partitions: homes.partitionsOf(home) };
    const answer = await ask(context, here, 'homes.deployments', asked, call, home);
    if (answer.away.length > 0) moves = true;
    return answer;
  };
  const parts = await Promise.all(
    homes.all().map(async (home) => ({ home, ...(await askOne(home, { most: end, ids: null })) })),
  );
  const total = parts.reduce((sum, part) => sum + part.total, 0);
  const shown = parts
    .flatMap(({ home, ids }) => ids.map((id) => ({ id, home })))
    .sort((a, b) => a.id - b.id)
    .slice(end - query.limit, end);
  const records = await partsOf(
    context,
    shown.map(({ home }) => home),
    async (home, places) => {
      const ids = places.map((place) => shown[place]?.id ?? 0);
      const found = await askOne(home, { most: 0, ids });
      return ids.map((id) => found.records.find((record) => record.id === id));
    },
  );
  if (moves || records.size < shown.length) return undefined;
  const data = shown.map((_, place) => records.get(place) as DeploymentRecord);
  return { data, pagination: paginationOfCounted(query, total) };
}

/** What other databases' lists are made of. */
export const homeReads = ({ db, reading, directory }: RuntimeContext): Handlers<typeof homeRpcs> => ({
  'homes.deployments': async ({ worldId, accountId, ...wanted }, { signal }) => {
    const { rows, ...found } = await reading.run(signal, () =>
      listDeploymentsHere(db, worldId, accountId, wanted),
    );
    return { ...found, records: rows.map((row) => recordFor(accountId, row)) };
  },
  'homes.find': async ({ address }) => ({ id: (await directory.byAddress(address))?.id ?? null }),
});

type Creation = Rpcs['deployments.create'];

/**
 * A clone is made where its source lives, a repeated request where the first one was carried out, any other in a database by
 * chance, each as likely as it has partitions.
 */
async function homeOfCreation(
  { homes, clock }: RuntimeContext,
  request: RequestOf<Creation>,
  call: CallContext,
): Promise<string> {
  const { body } = request;
  const source = body.sourceDeployment && (await homes.homeOf(body.sourceDeployment));
  const chosen = source || homes.homeOfId(Math.floor(Math.random() * PARTITIONS));
  const keyed = keyedCreation(request, call, clock);
  return keyed === undefined ? chosen : databaseOfCreation(homes.directory, keyed, chosen);
}

type Heads = Rpcs['journal.heads'];

/** The pages of one database after those of another, in the order of their ids. */
async function headsInTurn(
  context: RuntimeContext,
  here: Handlers<Pick<Rpcs, 'journal.heads'>>,
  request: RequestOf<Heads>,
  call: CallContext,
): Promise<ReplyOf<Heads>> {
  const all = context.homes.all();
  const { home = all[0] ?? context.homes.id, ...cursor } = request.after ?? BEGIN;
  const after = cursor.minute === BEGIN.minute ? null : cursor;
  const page = await ask(context, here, 'journal.heads', { ...request, after }, call, home);
  if (page.next !== null) return { ...page, next: { ...page.next, home } };
  const next = all[all.indexOf(home) + 1];
  return { ...page, next: next === undefined ? null : { ...BEGIN, home: next } };
}

type HeadCursor = NonNullable<RequestOf<Heads>['after']>;

/** Before the first head of a database. */
const BEGIN: HeadCursor = { minute: -1, deploymentId: 0 };
