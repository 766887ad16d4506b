import { classifyPostgresError, type Database } from '@orrery/database';
import type { Fact } from '../../transport.js';

interface FactsOfSubject {
  readonly subject: string;
  readonly facts: readonly Fact[];
}

/** Headers and bodies come as lines: JSON has no line breaks. */
const STORE = {
  name: 'store-facts',
  text: `
insert into message (subject, id, ordering_key, headers, body)
select subject, id, ordering_key, headers::jsonb, body
from rows from (unnest($1::text[]), unnest($2::text[]), unnest($3::text[]),
  unnest(string_to_array($4, E'\\n')), unnest(string_to_array($5, E'\\n'))) with ordinality
  as fact (subject, id, ordering_key, headers, body, place)
order by place`,
};

/** A fact that is there already is left as it is. */
const STORE_NEW = {
  name: 'store-new-facts',
  text: `${STORE.text}
on conflict (subject, id) do nothing`,
};

/**
 * Stores facts in their order, all of them or none, but for those that are there already. These are rare: to look out
 * for them with each row costs a fifth more than to begin again without them.
 */
export async function storeFacts(
  pool: Database<unknown>['pool'],
  batch: readonly FactsOfSubject[],
): Promise<void> {
  const values = columnsOf(batch);
  try {
    await pool.query({ ...STORE, values });
  } catch (error) {
    if (classifyPostgresError(error).kind !== 'unique_violation') throw error;
    await pool.query({ ...STORE_NEW, values });
  }
}

function columnsOf(batch: readonly FactsOfSubject[]) {
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
