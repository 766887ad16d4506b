import type { JournalVersion } from '@orrery/contracts';
import { type Clock, type Logger, startPollLoop } from '@orrery/service-kit';
import type { Db } from '../tables/schema.js';

export interface JournalForm {
  /** The version in which entries are written now. */
  readonly version: JournalVersion;
  /** Whether attributes are indexed: every process writes to the indexes. */
  readonly keepsIndexes: boolean;
}

/** How often a process that writes version 1 looks whether it may write version 2, in milliseconds. */
const LOOK_MS = 1000;

/**
 * Entries have version 2, and attributes are indexed, once the operator has said that no process of an earlier release is left: those cannot read the one
 * and would not write to the other (docs/operations.md "Upgrades").
 */
export async function followJournalForm(db: Db, clock: Clock, logger: Logger) {
  const form = await readForm(db);
  if (form.version === 1)
    logger.warn(
      'entries have version 1 until `orrery database finish-upgrade` is run; see docs/operations.md',
    );
  else if (!form.keepsIndexes)
    logger.warn(
      'no attribute is indexed until `orrery database finish-upgrade` is run; see docs/operations.md',
    );
  const runOnce = async () => {
    if (form.version === 1 || !form.keepsIndexes) Object.assign(form, await readForm(db));
    return 'idle' as const;
  };
  const loop = startPollLoop({ name: 'form of the journal', intervalMs: LOOK_MS, runOnce, clock, logger });
  return Object.assign(form, { [Symbol.asyncDispose]: () => loop.stop() });
}

async function readForm(db: Db): Promise<{ version: JournalVersion; keepsIndexes: boolean }> {
  const found = await db.selectFrom('journal_form').select(['version', 'keeps_indexes']).executeTakeFirst();
  return { version: found?.version ?? 1, keepsIndexes: found?.keeps_indexes ?? false };
}

/** No process of an earlier release is left: entries have version 2 and attributes are indexed from now on. */
export async function finishUpgrade(db: Db): Promise<void> {
  await db
    .updateTable('journal_form')
    .set({ version: 2, keeps_indexes: true })
    .where((of) => of.or([of('version', '<', 2), of('keeps_indexes', '=', false)]))
    .execute();
}
