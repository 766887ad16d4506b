import type { JournalVersion } from '@orrery/contracts';
import { type Clock, type Logger, startPollLoop } from '@orrery/service-kit';
import type { Db } from '../tables/schema.js';

export interface JournalForm {
  /** The version in which entries are written now. */
  readonly version: JournalVersion;
}

/** How often a process that writes version 1 looks whether it may write version 2, in milliseconds. */
const LOOK_MS = 1000;

/**
 * Entries have version 2 once the operator has said that no process of an earlier release is left: those cannot read it
 * (docs/operations.md "Upgrades").
 */
export async function followJournalForm(db: Db, clock: Clock, logger: Logger) {
  const form = { version: await readForm(db) };
  if (form.version === 1)
    logger.warn(
      'entries have version 1 until `orrery database finish-upgrade` is run; see docs/operations.md',
    );
  const runOnce = async () => {
    if (form.version === 1) form.version = await readForm(db);
    return 'idle' as const;
  };
  const loop = startPollLoop({ name: 'form of the journal', intervalMs: LOOK_MS, runOnce, clock, logger });
  return Object.assign(form, { [Symbol.asyncDispose]: () => loop.stop() });
}

const readForm = async (db: Db): Promise<JournalVersion> =>
  (await db.selectFrom('journal_form').select('version').executeTakeFirst())?.version ?? 1;

/** No process of an earlier release is left: entries have version 2 from now on. */
export async function finishUpgrade(db: Db): Promise<void> {
  await db.updateTable('journal_form').set({ version: 2 }).where('version', '<', 2).execute();
}
