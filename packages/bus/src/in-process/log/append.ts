import { classifyPostgresError, type Database, toServiceError } from '@orrery/database';
import { type Clock, retry } from '@orrery/service-kit';
import type { AppendOutcome, Fact } from '../../ports/transport.js';

type Pool = Database<unknown>['pool'];

interface Pending {
  readonly subject: string;
  readonly facts: readonly Fact[];
  settle(outcome: AppendOutcome): void;
}

const TRIES = { attempts: 4, baseMs: 100, maxMs: 1000 };
/** One statement stores up to this many waiting facts. Facts that were appended together are not divided. */
const MAX_BATCH = 200;

/**
 * Stores facts, one statement at a time. Facts that arrive meanwhile are stored by the next statement. With a single
 * writer the sequence numbers become visible in their order, so a reader who has seen one never misses a smaller one.
 */
export function createAppender(pool: Pool, clock: Clock) {
  const pending: Pending[] = [];
  const waiting = new Map<string, Set<() => void>>();
  let writing = false;

  const writeAll = async () => {
    writing = true;
    while (pending.length > 0) {
      const batch = takeBatch(pending);
      const outcome = await retry(() => storeFacts(pool, batch), TRIES, { clock }).then(
        () => undefined,
        toServiceError,
      );
      for (const { settle } of batch) settle(outcome);
      if (outcome === undefined)
        for (const subject of new Set(batch.map((one) => one.subject)))
          for (const wake of waiting.get(subject) ?? []) wake();
    }
    writing = false;
  };

  return {
    append: (subject: string, facts: readonly Fact[]): Promise<AppendOutcome[]> =>
      new Promise((resolve) => {
        pending.push({ subject, facts, settle: (outcome) => resolve(facts.map(() => outcome)) });
        if (!writing) void writeAll();
      }),
    /** Calls `wake` after facts were stored under the subject. @returns how to unsubscribe. */
    onStored: (subject: string, wake: () => void) => {
      const wakes = waiting.get(subject) ?? new Set();
      waiting.set(subject, wakes.add(wake));
      return () => void wakes.delete(wake);
    },
  };
}

function takeBatch(pending: Pending[]): Pending[] {
  let facts = 0;
  const end = pending.findIndex((one, index) => {
    facts += one.facts.length;
    return index > 0 && facts > MAX_BATCH;
  });
  return pending.splice(0, end < 0 ? pending.length : end);
}

/** Headers and bodies are passed as lines: JSON has no line breaks. */
const STORE = {
  name: 'store-facts',
  text: `
insert into message (subject, id, ordering_key, headers, body)
select subject, id, ordering_key, headers::jsonb, body
from rows from (unnest($1::text[]), unnest($2::text[]), unnest($3::text[]),
  unnest(string_to_array($4, E'\\n')), unnest(string_to_array($5, E'\\n'))) with ordinality
  as fact (subject, id, ordering_key, headers, body, position)
order by position`,
};

/** Leaves facts that are stored already as they are. */
const STORE_NEW = {
  name: 'store-new-facts',
  text: `${STORE.text}
on conflict (subject, id) do nothing`,
};

/**
 * Stores facts in their order, all of them or none, except those that are stored already. These are rare: a conflict
 * clause costs each row a fifth more than a second try costs on a conflict.
 */
async function storeFacts(pool: Pool, batch: readonly Pending[]): Promise<void> {
  const values = columnsOf(batch);
  try {
    await pool.query({ ...STORE, values });
  } catch (error) {
    if (classifyPostgresError(error).kind !== 'unique_violation') throw error;
    await pool.query({ ...STORE_NEW, values });
  }
}

function columnsOf(batch: readonly Pending[]) {
  const subjects: string[] = [];
  const ids: string[] = [];
  const keys: (string | null)[] = [];
  const headerLines: string[] = [];
  const bodies: string[] = [];
  for (const { subject, facts } of batch) {
    for (const { id, key, headers, body } of facts) {
      subjects.push(subject);
      ids.push(id);
      keys.push(key ?? null);
      headerLines.push(JSON.stringify(headers));
      bodies.push(body);
    }
  }
  return [subjects, ids, keys, headerLines.join('\n'), bodies.join('\n')];
}
