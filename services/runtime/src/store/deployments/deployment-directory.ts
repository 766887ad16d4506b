import {
  accountOf,
  type Caller,
  type ContentLimits,
  type DeploymentRecord,
  type DeploymentSource,
  parseReference,
  type Reference,
  ServiceError,
} from '@orrery/contracts';
import { prepared } from '@orrery/database';
import { LRUCache } from 'lru-cache';
import { partitionOf } from '../leases/leases.js';
import { type DeploymentRow, IS_CODE_PUBLIC, isPaused, ROW_COLUMNS } from '../state/deployment-state.js';
import type { Db } from '../tables/schema.js';

/** What never changes about a deployment. */
export interface KnownDeployment {
  readonly id: number;
  readonly address: string;
  readonly worldId: number;
  readonly worldAddress: string;
  readonly ownerAccountId: number;
}

export interface DeploymentPath {
  readonly worldAddress: string;
  readonly address: string;
}

const MAX_KNOWN = 50_000;

export type DeploymentDirectory = ReturnType<typeof createDeploymentDirectory>;

/** Finds deployments by their paths, in any process, without a call to the owner. */
export function createDeploymentDirectory(db: Db) {
  const known = new LRUCache<string, KnownDeployment>({ max: MAX_KNOWN });

  const lookUp = async (segment: string): Promise<KnownDeployment | undefined> => {
    const remembered = known.get(segment);
    if (remembered !== undefined) return remembered;
    const reference = parseReference(segment);
    const found = reference && (await read(db, reference));
    if (found !== undefined) known.set(segment, found);
    return found;
  };
  return {
    byAddress: lookUp,
    /** `undefined` when there is none, or it is in another world. A deleted one is found: the owner's process refuses it. */
    find: async ({ worldAddress, address }: DeploymentPath): Promise<KnownDeployment | undefined> => {
      const found = await lookUp(address);
      return found !== undefined && isInWorld(found, worldAddress) ? found : undefined;
    },
  };
}

/** @throws `deployment_not_found` */
export async function deploymentAt(
  { byAddress }: Pick<DeploymentDirectory, 'byAddress'>,
  address: string,
): Promise<KnownDeployment> {
  const found = await byAddress(address);
  if (found === undefined) throw notFound();
  return found;
}

/** A path may name the world by its id or by its address. */
function isInWorld(
  { worldId, worldAddress }: Pick<KnownDeployment, 'worldId' | 'worldAddress'>,
  segment: string,
): boolean {
  const reference = parseReference(segment);
  if (reference === undefined) return false;
  return 'id' in reference ? reference.id === worldId : reference.address === worldAddress;
}

const read = (db: Db, reference: Reference): Promise<KnownDeployment | undefined> =>
  db
    .selectFrom('deployments')
    .select([
      'id',
      'address',
      'world_id as worldId',
      'world_address as worldAddress',
      'owner_account_id as ownerAccountId',
    ])
    .where((where) =>
      'id' in reference ? where('id', '=', reference.id) : where('address', '=', reference.address),
    )
    .executeTakeFirst();

export type DeploymentAccess = ReturnType<typeof createDeploymentAccess>;

/** Who may do what with a deployment: its owner everything, others may see it while it is public. */
export function createDeploymentAccess(
  db: Db,
  directory: DeploymentDirectory,
  isHere: (partition: number) => Promise<boolean>,
) {
  const visibleBy = async <Row extends Visible>(
    statement: ByReference<Row>,
    { address, worldAddress }: DeploymentPath,
    caller: Caller,
  ): Promise<Row> => {
    const reference = parseReference(address);
    const [row] = reference === undefined ? [] : await statement(db, reference);
    const world = row && { worldId: row.world_id, worldAddress: row.world_address };
    if (row === undefined || world === undefined || !isInWorld(world, worldAddress)) throw notFound();
    if (!row.is_public && row.owner_account_id !== accountOf(caller)) throw notFound();
    return row;
  };
  /** The row as it is. @throws `deployment_not_found` for what is absent, deleted or not visible: the answer does not tell which. */
  const visible = (path: DeploymentPath, caller: Caller): Promise<DeploymentRow> =>
    visibleBy(wholeRow, path, caller);
  const owned = async (path: DeploymentPath, caller: Caller): Promise<KnownDeployment> => {
    const found = await directory.find(path);
    if (found === undefined) throw notFound();
    if (found.ownerAccountId === accountOf(caller)) return found;
    await visible(path, caller);
    throw notTheirs();
  };
  const see = async (path: DeploymentPath, caller: Caller): Promise<SeenDeployment> => {
    const row = await visibleBy(seenRow, path, caller);
    const {
      id,
      address,
      source,
      isLLMPublic,
      isCodePublic,
      owner_account_id,
      world_id: worldId,
      world_address: worldAddress,
    } = row;
    const isOwner = owner_account_id === accountOf(caller);
    return { id, address, worldId, worldAddress, source, isLLMPublic, isCodePublic, isOwner };
  };
  return {
    visible,
    see,
    /** @throws `deployment_not_found` for what is absent or not visible, `forbidden` for what is visible. */
    owned,
    /** The same for a read in this database. @throws `deployment_not_found` also for what is deleted */
    ownedNow: async (path: DeploymentPath, caller: Caller): Promise<SeenDeployment> => {
      const seen = await see(path, caller);
      if (!seen.isOwner) throw notTheirs();
      return seen;
    },
    /** The same also of what is deleted: one that has left this database is not found, although it is remembered. */
    ownedHere: async (path: DeploymentPath, caller: Caller): Promise<KnownDeployment> => {
      const found = await owned(path, caller);
      if (!(await isHere(partitionOf(found.id)))) throw notFound();
      return found;
    },
  };
}

const notTheirs = () => new ServiceError('forbidden', 'Only the owner of a deployment may do this.');

type Visible = Pick<DeploymentRow, 'world_id' | 'world_address' | 'owner_account_id' | 'is_public'>;
type ByReference<Row> = (db: Db, reference: Reference) => Promise<Row[]>;

function byReference<Row>(name: string, columns: string): ByReference<Row> {
  const by = (column: 'id' | 'address') =>
    prepared<Row>(
      `${name}-by-${column}`,
      `select ${columns} from deployments d where ${column} = $1 and deleted_at is null`,
    );
  const [byId, byAddress] = [by('id'), by('address')];
  return (db, reference) =>
    'id' in reference ? byId(db, [reference.id]) : byAddress(db, [reference.address]);
}

const wholeRow = byReference<DeploymentRow>('deployment', ROW_COLUMNS);
/** What `see` reads: a locked deployment's row is large. */
const seenRow = byReference<Visible & Omit<SeenDeployment, 'isOwner'>>(
  'seen-deployment',
  `id, address, world_id, world_address, owner_account_id, is_public, is_llm_public as "isLLMPublic",
    ${IS_CODE_PUBLIC} as "isCodePublic", source`,
);

interface PublishedHead {
  readonly address: string;
  readonly worldAddress: string;
  readonly head: string;
}

const publishedByReference = prepared<PublishedHead & { place: number }>(
  'published-heads',
  `select w.place, d.address, d.world_address as "worldAddress", h.hash as head
   from unnest($1::bigint[], $2::text[]) with ordinality as w (id, address, place)
   join lateral (
     select id, address, world_address from deployments
     where (id = w.id or address = w.address) and is_public and deleted_at is null limit 1
   ) d on true
   join journal_heads h on h.deployment_id = d.id`,
);

/** Published deployments, by ids or addresses, with the hash of the last entry of each journal; null for any other. */
export async function publishedHeads(
  db: Db,
  references: readonly string[],
): Promise<(PublishedHead | null)[]> {
  const wanted = references.map(parseReference);
  const rows = await publishedByReference(db, [
    wanted.map((one) => (one !== undefined && 'id' in one ? one.id : null)),
    wanted.map((one) => (one !== undefined && 'address' in one ? one.address : null)),
  ]);
  const found = new Map(rows.map(({ place, ...head }) => [Number(place), head]));
  return references.map((_, at) => found.get(at + 1) ?? null);
}

export const notFound = (): ServiceError =>
  new ServiceError(
    'deployment_not_found',
    'No deployment that you may see has this address or id, in this world. A path takes no name.',
  );

const LOCKED =
  'The deployment is locked for ever: its bindings and its AI model stay as they are, its instances change by executions ' +
  'alone, and it cannot be deleted. To go on with other ones, create a deployment that names this one as sourceDeployment.';

/** What is fixed in a locked deployment (docs/execution.md, "Locked deployments"). @throws `deployment_locked` */
export function refuseLocked({ mode }: Pick<DeploymentRow, 'mode'>): void {
  if (mode === 'locked') throw new ServiceError('deployment_locked', LOCKED);
}

/** A what-if fork reaches nobody: it binds nothing, is not published and is not kept for ever. @throws `what_if_refused` */
export function refuseWhatIf({ is_kept }: Pick<DeploymentRow, 'is_kept'>): void {
  if (is_kept === null) return;
  const message =
    'A what-if fork is quiet: it binds no events, is not published and is not locked. To go on with its state, create a ' +
    'deployment that names it as sourceDeployment.';
  throw new ServiceError('what_if_refused', message);
}

export const toRecord = (row: DeploymentRow): DeploymentRecord => ({
  id: row.id,
  address: row.address,
  worldId: row.world_id,
  worldAddress: row.world_address,
  name: row.name,
  description: row.description,
  mode: row.mode,
  isPublic: row.is_public,
  isPaused: isPaused(row),
  isLLMPublic: row.is_llm_public,
  isCodePublic: row.is_code_public,
  aiModelId: row.ai_model_id,
  aiDailyBudgetUsd: row.ai_daily_budget_usd,
  payToAddress: row.pay_to_address,
  lockedAt: row.locked_at?.toISOString() ?? null,
  definitionHash: row.definition_hash,
  source: row.source,
  ...(row.is_kept !== null && { purpose: 'what_if' as const, isKept: row.is_kept }),
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});

export interface RuntimeLimits
  extends Pick<
    ContentLimits,
    'inputBytes' | 'stateBytes' | 'entryBytes' | 'descriptionBytes' | 'bindingsPerDeployment'
  > {
  readonly instancesPerDeployment: number;
}

/** A deployment that the caller may see. */
export interface SeenDeployment {
  id: number;
  address: string;
  worldId: number;
  worldAddress: string;
  source: DeploymentSource | null;
  isLLMPublic: boolean;
  isCodePublic: boolean;
  isOwner: boolean;
}
