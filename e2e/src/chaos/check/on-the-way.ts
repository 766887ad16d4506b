import { query } from '@orrery/testing/servers';

/** What holds at every moment, and is quickly read: each answers what it finds as `found`. */
const ALWAYS = {
  'a journal has a hole or a double': `
    select deployment_id || ': ' || count(*) || ' entries up to ' || max(seq) as found
    from runtime.journal group by deployment_id having count(*) <> max(seq)`,
  'a head is not the last entry': `
    select h.deployment_id || ': ' || h.seq as found from runtime.journal_heads h
    where h.seq <> (select coalesce(max(seq), 0) from runtime.journal j where j.deployment_id = h.deployment_id)`,
  'an operation succeeded twice': `
    select coalesce(input->>'operation', input->>'name') || ' of ' || deployment_id as found
    from runtime.journal where kind = 'execution' and trigger <> 'cron' and status = 'succeeded'
    group by deployment_id, coalesce(input->>'operation', input->>'name') having count(*) > 1`,
  'a failed execution changes instances': `
    select seq || ' of ' || deployment_id as found from runtime.journal
    where status = 'failed' and jsonb_array_length(changes) > 0`,
  'a due time was executed twice': `
    select input->>'due' || ' of ' || deployment_id as found from runtime.journal
    where trigger = 'cron' and status = 'succeeded' group by deployment_id, input->>'due' having count(*) > 1`,
} as const;

/** The cheap part of the check, while the load goes on. Answers nothing where the database is away. */
export async function checkOnTheWay(databaseUrl: string): Promise<string[]> {
  const found: string[] = [];
  for (const [what, text] of Object.entries(ALWAYS)) {
    const rows = await query<{ found: string }>(databaseUrl, text).catch(() => []);
    found.push(...rows.map((row) => `${what}: ${row.found}`));
  }
  return found;
}
