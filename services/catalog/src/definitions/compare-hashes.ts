import { ConnectionLost, classifyPostgresError } from '@orrery/database';
import type { CatalogContext } from '../context.js';

/** What became of something remembered. */
export type State = 'same' | 'changed' | 'gone';

interface Statement {
  readonly name: string;
  readonly text: string;
}

/** The state of each question in one round trip, none for no questions. Outside a transaction: it only reads. */
export async function compareHashes(
  pool: CatalogContext['pool'],
  statement: Statement,
  questions: readonly object[],
): Promise<State[]> {
  if (questions.length === 0) return [];
  const values = [JSON.stringify(questions)];
  try {
    const { rows } = await pool.query<[State]>({ ...statement, values, rowMode: 'array' });
    return rows.map(([state]) => state);
  } catch (error) {
    if (classifyPostgresError(error).kind !== 'unknown_outcome') throw error;
    throw new ConnectionLost('the connection was lost while definitions were compared', { cause: error });
  }
}
