import type pg from 'pg';

/** Remembers a deployment's rows as they are now; the answer brings the database back to them, as a restore would. */
export async function rememberDeployment(
  pool: Pick<pg.Pool, 'query'>,
  id: number,
): Promise<() => Promise<void>> {
  const { rows } = await pool.query(
    `select (select jsonb_agg(h) from runtime.journal_heads h where h.deployment_id = $1) as heads,
      (select jsonb_agg(i) from runtime.instances i where i.deployment_id = $1) as instances,
      (select jsonb_agg(r) from runtime.randomness r where r.deployment_id = $1) as randomness`,
    [id],
  );
  const [before] = rows;
  const restore = async (table: string, kept: unknown) => {
    await pool.query(`delete from runtime.${table} where deployment_id = $1`, [id]);
    const insert = `insert into runtime.${table} select * from jsonb_populate_recordset(null::runtime.${table}, $1)`;
    if (kept !== null) await pool.query(insert, [JSON.stringify(kept)]);
  };
  return async () => {
    await restore('instances', before.instances);
    await restore('journal_heads', before.heads);
    await restore('randomness', before.randomness);
    // What was computed from the journal was in the same database.
    for (const table of [
      'lifetimes',
      'lifetime_heads',
      'merkle_nodes',
      'merkle_heads',
      'activity',
      'activity_heads',
    ])
      await pool.query(`delete from runtime.${table} where deployment_id = $1`, [id]);
    for (const table of ['journal', 'instance_changes', 'kept_states'])
      await pool.query(
        `delete from runtime.${table} t using runtime.journal_heads h
         where t.deployment_id = $1 and h.deployment_id = $1 and t.seq > h.seq`,
        [id],
      );
  };
}
