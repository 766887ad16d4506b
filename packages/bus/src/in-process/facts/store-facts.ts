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
  const facts = batch.flatMap((one) => one.facts);
  const values = [
    batch.flatMap(({ subject, facts }) => facts.map(() => subject)),
    facts.map(({ id }) => id),
    facts.map(({ key }) => key ?? null),
    facts.map(({ headers }) => JSON.stringify(headers)).join('\n'),
    facts.map(({ body }) => body).join('\n'),
  ];
  try {
    await pool.query({ ...STORE, values });
  } catch (error) {
    if (classifyPostgresError(error).kind !== 'unique_violation') throw error;
    await pool.query({ ...STORE_NEW, values });
  }
}
