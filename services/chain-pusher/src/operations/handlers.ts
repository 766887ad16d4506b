import type { Bus } from '@orrery/bus';
import {
  type CallContext,
  type ChainConfig,
  type ChainRecord,
  CONTENT_BYTES,
  type chainRpcs,
  type Handlers,
  type PushRecord,
  paginationOf,
  type pushRpcs,
  refuseDeepPage,
  ServiceError,
} from '@orrery/contracts';
import { transaction } from '@orrery/database';
import { PUSHES_PER_TRANSACTION } from '../core/pushes/batch.js';
import { type PushRow, toPushRecord } from '../core/pushes/push-record.js';
import { unavailableChains } from '../store/chains/chain-lease.js';
import { type Remedy, remedyFailed } from '../store/lanes/lane-failure.js';
import { listPushes, pushesOf } from '../store/pushes/push-store.js';
import type { Db } from '../store/tables/schema.js';
import { type Path, relationOf } from './relation.js';

type Rpcs = typeof chainRpcs & typeof pushRpcs;

export interface PushDependencies {
  readonly db: Db;
  readonly bus: Pick<Bus, 'call'>;
  /** The configured chains, by name. */
  readonly chains: ReadonlyMap<string, ChainConfig>;
  /** A lane of this chain can go on. */
  readonly wake: (chain: string) => void;
}

export function pushHandlers(dependencies: PushDependencies): Handlers<Rpcs> {
  const { db, bus, chains } = dependencies;
  const createToRecord = async () => {
    const unavailable = await unavailableChains(db);
    return (row: PushRow): PushRecord => {
      const chain = chains.get(row.chain);
      const obstacle = unavailable.has(row.chain) ? 'chain_unavailable' : undefined;
      return toPushRecord(row, chain?.explorerUrl, chain === undefined ? 'chain_unconfigured' : obstacle);
    };
  };
  const toRecords = async (rows: readonly PushRow[]): Promise<PushRecord[]> =>
    rows.length === 0 ? [] : rows.map(await createToRecord());
  const remedy = (what: Remedy) => async (request: RemedyRequest, call: CallContext) => {
    const remedied = await apply(dependencies, what, request, call);
    return { data: (await createToRecord())(remedied) };
  };
  return {
    'chains.list': async ({ query }) => {
      refuseDeepPage(query);
      const unavailable = await unavailableChains(db);
      const all = [...chains.values()].map((chain) => toChainRecord(chain, unavailable));
      const from = (query.page - 1) * query.limit;
      return { data: all.slice(from, from + query.limit), pagination: paginationOf(query, all.length) };
    },
    'pushes.list': async ({ params, query }, call) => {
      refuseDeepPage(query);
      const { address } = await relationOf(bus, params, call);
      const { rows, count } = await listPushes(db, address, query, query);
      const pagination = paginationOf(query, count.total);
      return {
        data: await toRecords(rows),
        pagination: count.isMinimum ? { ...pagination, totalIsMinimum: true } : pagination,
      };
    },
    'pushes.retry': remedy('retry'),
    'pushes.skip': remedy('skip'),
    'pushes.ofEntries': async ({ deployment, historyIds }) => {
      const records = await toRecords(await pushesOf(db, deployment, historyIds));
      return { pushes: records.map(({ historyId, ...record }) => ({ historyId, push: toSummary(record) })) };
    },
  };
}

const toSummary = ({
  seq: _seq,
  truncated: _truncated,
  digest: _digest,
  head: _head,
  ...summary
}: Omit<PushRecord, 'historyId'>) => summary;

const toChainRecord = (
  { name, caip2, family }: ChainConfig,
  unavailable: ReadonlySet<string>,
): ChainRecord => ({
  name,
  caip2,
  family,
  status: unavailable.has(name) ? 'unavailable' : 'available',
  limits: { contentBytes: CONTENT_BYTES[family], pushesPerTransaction: PUSHES_PER_TRANSACTION },
});

interface RemedyRequest {
  readonly params: Path & { readonly historyId: string; readonly chain: string };
}

async function apply(
  dependencies: PushDependencies,
  what: Remedy,
  { params }: RemedyRequest,
  call: CallContext,
): Promise<PushRow> {
  const { db, bus, wake } = dependencies;
  const { address, relation } = await relationOf(bus, params, call);
  if (relation !== 'owner') {
    throw new ServiceError('forbidden', 'Only the owner of a deployment may do this.');
  }
  const find = async (reader: Db): Promise<PushRow> => {
    const rows = await pushesOf(reader, address, [params.historyId]);
    const push = rows.find(({ chain }) => chain === params.chain);
    if (push === undefined) throw new ServiceError('push_not_found');
    return push;
  };
  const { number } = await find(db);
  const remedied = await transaction(db, async (trx) => {
    await remedyFailed(trx, { deployment: address, chain: params.chain }, number, what);
    // What this request made of it. The sender may take it as soon as it is committed.
    return find(trx);
  });
  wake(params.chain);
  return remedied;
}
