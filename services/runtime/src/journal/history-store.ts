import { type Selectable, sql } from 'kysely';
import type { Db } from '../database/db.js';
import type { RuntimeTables } from '../database/schema.js';
import { HASHED_COLUMNS } from './journal-row.js';

const SHOWN_COLUMNS = [...HASHED_COLUMNS, 'payment', 'pushes', 'duration_ms'] as const;

export type ShownRow = Pick<Selectable<RuntimeTables['journal']>, (typeof SHOWN_COLUMNS)[number] | 'llm'>;

/** Members of `llm` that hold what was said to a model or by it. */
const LLM_TEXTS = ['request', 'response'];

/** The entries of these `seq`, newest first, without the texts of models. */
export const entriesWithoutTexts = (
  db: Db,
  deploymentId: number,
  seqs: readonly number[],
): Promise<ShownRow[]> =>
  db
    .selectFrom('journal')
    .select(SHOWN_COLUMNS)
    .select(sql<ShownRow['llm']>`llm - ${LLM_TEXTS}::text[]`.as('llm'))
    .where('deployment_id', '=', deploymentId)
    .where('seq', '=', sql<number>`any(${[...seqs]}::bigint[])`)
    .orderBy('seq', 'desc')
    .execute();

/** One entry by its id, a UUID; its model's texts only `withTexts`. */
export const entryById = (
  db: Db,
  deploymentId: number,
  id: string,
  { withTexts }: { withTexts: boolean },
): Promise<ShownRow | undefined> =>
  db
    .selectFrom('journal')
    .select(SHOWN_COLUMNS)
    .select(
      (withTexts ? sql<ShownRow['llm']>`llm` : sql<ShownRow['llm']>`llm - ${LLM_TEXTS}::text[]`).as('llm'),
    )
    .where('deployment_id', '=', deploymentId)
    .where('id', '=', id)
    .executeTakeFirst();

/** Where a deployment's journal stands; a deployment always has a first entry. */
export async function headOf(
  db: Db,
  deploymentId: number,
): Promise<Selectable<RuntimeTables['journal_heads']>> {
  const head = await db
    .selectFrom('journal_heads')
    .selectAll()
    .where('deployment_id', '=', deploymentId)
    .executeTakeFirst();
  return head ?? { deployment_id: deploymentId, seq: 0, hash: '', totals: {} };
}
