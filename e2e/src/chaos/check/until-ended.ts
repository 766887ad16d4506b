import { systemClock } from '@orrery/service-kit';
import { query } from '@orrery/testing/servers';

/** What is under way, by what it is: each answers how many, and the oldest of them. */
const UNDER_WAY = {
  'runs under way': `select count(*)::int as count, min(id::text) as one from runtime.runs where ended_at is null`,
  'timers that are due': `select count(*)::int as count, min(id::text) as one from runtime.timers
    where due_at < now() + interval '1 minute'`,
  // A refused one is looked up once more when it has become invalid: it may have been charged after all.
  'payments under way': `select count(*)::int as count, min(key) as one from runtime.payments
    where check_at is not null or status not in ('settled', 'released', 'refused', 'uncollected', 'refund_due')`,
  'occurrences under way': `select count(*)::int as count, min(id)::text as one from scheduler.occurrences
    where status = 'running'`,
  'pushes under way': `select count(*)::int as count, min(deployment || ' ' || number) as one from chain_pusher.pushes
    where status in ('queued', 'submitted')`,
  'webhooks behind': `select count(*)::int as count, min(w.url) as one from chain_pusher.webhooks w
    join runtime.deployments d on d.address = w.deployment join runtime.journal_heads h on h.deployment_id = d.id
    where w.seq < h.seq`,
  'entries to be published': `select coalesce(sum(seq - published), 0)::int as count, min(deployment_id)::text as one
    from runtime.journal_heads where published < seq`,
} as const;

/**
 * Invariant 7: with no fault left, everything that was accepted ends. Resolves when nothing is under way, with nothing; or,
 * when the time is over, with what has not ended.
 * @param makeBlock on the payments' chain, which makes none without transactions: what a chain never took ends by its time
 * @param patienceMs as long as the longest deadline of anything, in milliseconds
 */
export async function untilEnded(
  databaseUrl: string,
  expectedPushes: () => Promise<number>,
  makeBlock: () => Promise<void>,
  patienceMs: number,
): Promise<string[]> {
  for (const until = performance.now() + patienceMs; ; ) {
    await makeBlock();
    const left = [...(await underWay(databaseUrl)), ...(await notTaken(databaseUrl, expectedPushes))];
    if (left.length === 0 || performance.now() > until) return left;
    await systemClock.sleep(500);
  }
}

async function underWay(databaseUrl: string): Promise<string[]> {
  // New due times begin all the time: what is due goes on, and no further one begins.
  await query(databaseUrl, 'update scheduler.schedules set next_at = null where next_at is not null');
  const found: string[] = [];
  for (const [what, text] of Object.entries(UNDER_WAY)) {
    const [row] = await query<{ count: number; one: string | null }>(databaseUrl, text);
    if (row !== undefined && row.count > 0)
      found.push(`${row.count} ${what}, of which ${row.one} is the first`);
  }
  return found;
}

/** The chain-pusher takes up entries by itself, from the journal. */
async function notTaken(databaseUrl: string, expected: () => Promise<number>): Promise<string[]> {
  const [row] = await query<{ count: number }>(
    databaseUrl,
    'select count(*)::int as count from chain_pusher.pushes',
  );
  const wanted = await expected();
  return row?.count === wanted ? [] : [`${row?.count} of ${wanted} pushes were taken up`];
}
