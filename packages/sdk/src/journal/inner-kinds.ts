import type { HistoryEntry } from './journal.js';

/** Kinds of entries that tell what happens inside a deployment; those of all others are about the deployment itself. */
export const INNER_KINDS: ReadonlySet<string> = new Set([
  'execution',
  'instance_created',
  'instance_updated',
  'instance_deleted',
  'timer_set',
  'timer_cancelled',
  'randomness_committed',
  'randomness_revealed',
] satisfies HistoryEntry['kind'][]);
