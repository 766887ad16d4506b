import type { Database } from '@orrery/database';
import type { Fact } from '../../transport.js';

interface FactsOfSubject {
  readonly subject: string;
  readonly facts: readonly Fact[];
}

/** A fact that is there already is left as it is. Headers and bodies come as lines: JSON has no line breaks. */
const STORE = {
  name: 'store-facts',
  text: `
insert into message (subject, id, ordering_key, headers, body)
select subject, id, ordering_key, headers::jsonb, body
from rows from (unnest($1::text[]), unnest($2::text[]), unnest($3::text[]),
  unnest(string_to_array($4, E'\\n')), unnest(string_to_array($5, E'\\n'))) with ordinality
  as fact (subject, id, ordering_key, headers, body, place)
order by place
on conflict (subject, id) do nothing`,
};

/** Stores facts in their order, all of them or none. */
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
  await pool.query({ ...STORE, values });
}
