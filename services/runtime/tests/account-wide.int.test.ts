import { createLogger } from '@orrery/service-kit';
import { createTestDatabase } from '@orrery/testing';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { openDirectory, openRuntimeDatabase } from '../src/operator.js';
import { copyAccountWide } from '../src/store/runs/account-wide.js';

const logger = createLogger({ service: 'test', level: 'error' });

it('finds by indexes what may still be charged, and what models have cost lately, of all that is kept', async () => {
  await using place = await createTestDatabase();
  const at = { databaseUrl: place.url, logger };
  await using runtime = await openRuntimeDatabase({ ...at, maxConnections: 2 });
  await using directory = await openDirectory({ ...at, directoryUrl: undefined, applicationName: 'test' });
  const plan = await runtime.db.transaction().execute(async (trx) => {
    // The tables are empty: reading them whole would be the cheapest.
    await sql`set local enable_seqscan = off`.execute(trx);
    const plans: object[] = [];
    const explained = trx.withPlugin({
      transformQuery: ({ node }) =>
        node.kind === 'RawNode'
          ? {
              ...node,
              sqlFragments: node.sqlFragments.map((text, at) => (at === 0 ? `explain ${text}` : text)),
            }
          : node,
      transformResult: async ({ result }) => {
        plans.push(...(result.rows as object[]));
        return { ...result, rows: [] };
      },
    });
    await copyAccountWide(explained, directory.db);
    return JSON.stringify(plans);
  });
  expect(plan).toMatch(/payments_by_validity.*Index Cond: \(valid_until > now/);
  expect(plan).toMatch(/ai_usage_by_day.*Index Cond: \(day >= /);
  expect(plan).not.toContain('Seq Scan');
});
