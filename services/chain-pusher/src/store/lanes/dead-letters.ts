import { parkedMessage, type Resolution, requestResolution } from '@orrery/database';
import type { Db } from '../tables/schema.js';

/** Who follows the journals here: its name on the bus and in the inbox. */
export const CONSUMER = 'chain-pusher';

/** The entry that stops the intake of a deployment; undefined: none does. */
export const findDeadLetter = (db: Db, deployment: string) =>
  parkedMessage(db, { consumer: CONSUMER, key: deployment });

/** Asks the process that takes journals in to handle that entry again, or to leave it out. */
export const resolveDeadLetter = (db: Db, deployment: string, resolution: Resolution): Promise<void> =>
  requestResolution(db, { consumer: CONSUMER, key: deployment }, resolution);

/** The chains that pushes of a deployment have gone to, or are to. */
export async function chainsOf(db: Db, deployment: string): Promise<string[]> {
  const rows = await db
    .selectFrom('lanes')
    .select('chain')
    .where('deployment', '=', deployment)
    .orderBy('chain')
    .execute();
  return rows.map(({ chain }) => chain);
}
