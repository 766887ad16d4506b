import {
  type Caller,
  type CreateWorldBody,
  newAddress,
  type PageQuery,
  type UpdateWorldBody,
  type WorldRecord,
} from '@orrery/contracts';
import { sql } from 'kysely';
import { isOwner } from '../../core/worlds.js';
import { type Db, json, type Trx, timesOf } from '../tables/db.js';
import type { WorldRow } from '../tables/schema.js';

export const insertWorld = (
  trx: Trx,
  accountId: number,
  body: CreateWorldBody,
  now: Date,
): Promise<WorldRow> =>
  trx
    .insertInto('worlds')
    .values({
      address: newAddress(),
      owner_account_id: accountId,
      name: body.name,
      description: body.description ?? null,
      domain_tags: json(body.domainTags ?? []),
      prompt_seed: body.promptSeed ?? null,
      created_at: now,
      updated_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();

/** Absent fields stay. */
export const updateWorld = (
  trx: Trx,
  id: number,
  { name, description, domainTags, promptSeed, isPublic }: UpdateWorldBody & { isPublic?: boolean },
  now: Date,
): Promise<WorldRow> =>
  trx
    .updateTable('worlds')
    .set({
      name,
      description,
      domain_tags: domainTags && json(domainTags),
      prompt_seed: promptSeed,
      is_public: isPublic,
      updated_at: now,
    })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();

/** Deletes the world; schemas, events and versions follow by cascade. */
export async function deleteWorld(trx: Trx, id: number): Promise<void> {
  // They refer to schemas and versions, which the cascade deletes in no defined order.
  await trx
    .deleteFrom('version_schemas')
    .where('schema_id', 'in', trx.selectFrom('entity_schemas').select('id').where('world_id', '=', id))
    .execute();
  await trx.deleteFrom('worlds').where('id', '=', id).execute();
}

/**
 * One page of the worlds that an account may see, in order of creation. Each branch reads an index in order of id and
 * stops at the end of the page, so the cost depends only on the position of the page.
 */
export async function listWorlds(
  db: Db,
  accountId: number,
  { page, limit }: PageQuery,
  mineOnly: boolean,
): Promise<WorldRow[]> {
  const end = page * limit;
  const others = mineOnly
    ? sql``
    : sql`union all
        (select id from worlds where is_public and owner_account_id <> ${accountId} order by id limit ${end})`;
  const { rows } = await sql<WorldRow>`
    select worlds.* from (
      select id from (
        (select id from worlds where owner_account_id = ${accountId} order by id limit ${end}) ${others}
      ) as seen order by id limit ${limit} offset ${end - limit}
    ) as shown join worlds using (id) order by id`.execute(db);
  return rows;
}

/** The world as the caller may see it: only its owner gets `promptSeed`. */
export const toWorldRecord = (row: WorldRow, caller: Caller): WorldRecord => ({
  id: row.id,
  address: row.address,
  name: row.name,
  description: row.description,
  domainTags: row.domain_tags,
  ...(isOwner(row, caller) && { promptSeed: row.prompt_seed }),
  isPublic: row.is_public,
  ...timesOf(row),
});

interface DescribedWorld {
  readonly world: {
    readonly name: string;
    readonly description: string | null;
    readonly domainTags: string[];
  } | null;
  readonly descriptions: Record<string, string>;
}

/** The names and tags of a world, and the descriptions of its events where it is published. */
export async function describeWorld(
  db: Db,
  worldId: number,
  eventIds: readonly number[],
): Promise<DescribedWorld> {
  const world = await db
    .selectFrom('worlds')
    .select(['name', 'description', 'domain_tags as domainTags', 'is_public as isPublic'])
    .where('id', '=', worldId)
    .executeTakeFirst();
  if (world === undefined) return { world: null, descriptions: {} };
  const { isPublic, description, ...named } = world;
  const shown = { ...named, description: isPublic ? description : null };
  if (!isPublic || eventIds.length === 0) return { world: shown, descriptions: {} };
  const rows = await db
    .selectFrom('events')
    .select(['id', 'description'])
    .where('world_id', '=', worldId)
    .where('id', 'in', eventIds)
    .where('description', 'is not', null)
    .execute();
  return {
    world: shown,
    descriptions: Object.fromEntries(rows.map(({ id, description }) => [id, description ?? ''])),
  };
}
