import { z } from 'zod';
import { defineMessage } from '../rpc/message.js';
import { journalFact } from './journal.js';

/**
 * Published for every journal entry after its commit, each deployment's in `seq` order, with the entry's id as the
 * message's. A hint: consumers follow `seq`, fetch what is missing through `journal.range`, and learn from `journal.heads`
 * of what was never delivered.
 */
export const journalEntry = defineMessage('runtime', 'journal-entry', journalFact);

/**
 * Broadcast after a commit: the deployments that it touched, each with its journal's last `seq`. Who missed it finds out
 * through `journal.heads` or `journal.range`.
 */
export const journalHeads = defineMessage(
  'runtime',
  'journal-heads',
  z.strictObject({ heads: z.array(z.tuple([z.string(), z.int()])) }),
);
