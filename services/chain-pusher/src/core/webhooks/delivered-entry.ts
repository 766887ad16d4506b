import { type ExecutionStatus, type JournalFact, liveExecutionOf } from '@orrery/contracts';

/** An entry of a journal as it is sent to webhooks. */
export interface DeliveredEntry
  extends Pick<JournalFact, 'id' | 'seq' | 'hash' | 'prevHash' | 'kind' | 'event' | 'status' | 'executedAt'> {
  /** JSON, the same for all who may not read more than anyone. */
  readonly body: string;
}

/** Which executions are sent to a webhook; null: all. */
export interface WebhookFilter {
  readonly events: readonly string[] | null;
  readonly status: ExecutionStatus | null;
}

/**
 * An entry as anyone may see it: a fact holds no texts of models, and what is for services is left out. The input of what
 * is no execution holds settings.
 */
export function deliveredEntry(fact: JournalFact): DeliveredEntry {
  const { id, seq, hash, prevHash, kind, event, status, executedAt } = fact;
  const { input, ...entry } = liveExecutionOf(fact);
  const body = JSON.stringify(kind === 'execution' ? { ...entry, input } : entry);
  return { id, seq, hash, prevHash, kind, event, status, executedAt, body };
}

/** Executions that pass the filter, and always that the journal has lost its last entries, which a receiver may have. */
export const isWanted = ({ kind, event, status }: DeliveredEntry, filter: WebhookFilter): boolean =>
  kind === 'tail_lost' ||
  (kind === 'execution' &&
    (filter.status === null || filter.status === status) &&
    (filter.events === null || (event !== null && filter.events.includes(event))));
