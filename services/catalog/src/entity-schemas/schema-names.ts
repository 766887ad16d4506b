import { cutText, didYouMean } from '@orrery/contracts';
import type { Db } from '../database/db.js';

/** The names of a world's schemas; a world has at most some hundreds. */
export async function schemaNames(db: Db, worldId: number): Promise<string[]> {
  const rows = await db
    .selectFrom('entity_schemas')
    .select('name')
    .where('world_id', '=', worldId)
    .orderBy('id')
    .execute();
  return rows.map(({ name }) => name);
}

/** Says that a name is none of the known schemas, and which one may be meant. */
export const noSuchSchema = (name: string, known: readonly string[]): string =>
  `The world has no entity schema "${cutText(name, 255)}".${didYouMean(name, known)}`;
