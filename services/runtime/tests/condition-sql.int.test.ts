import { connect } from '@orrery/database';
import { compareInOrder, compileCondition, orderValues, parseOrder, satisfies } from '@orrery/expressions';
import { createLogger } from '@orrery/service-kit';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { splitCondition } from '../src/store/deployments/queries/condition-sql.js';
import { besideSql, orderSql } from '../src/store/deployments/queries/order-sql.js';
import type { RuntimeSchema } from '../src/store/tables/schema.js';
import { drawFrom, randomCondition, randomOrder, randomState, seeded } from './random-conditions.js';
import { prepareHouse } from './running-runtime.js';

/** `QUERY_CASES=100000` compares as many pairs of a condition and a set of states; 3,000 by default. */
const CASES = Number(process.env['QUERY_CASES'] ?? 3000);
const SEED = Number(process.env['QUERY_SEED'] ?? 20_261_123);
const STATES = 24;

const house = await prepareHouse();
const logger = createLogger({ service: 'test', level: 'error' });
const place = { url: house.databaseUrl, schema: 'runtime', applicationName: 'test', logger };
const { db } = house.resources.use('queries', await connect<RuntimeSchema>(place));
const draw = drawFrom(seeded(SEED));

const states = () =>
  Array.from({ length: STATES }, (_, at) => ({
    instance_id:
      draw.random() < 0.7 ? `${draw.pick(['a', 'A', 'é', '\u{1F40E}', '\uffee', '1'])}-${at}` : String(at),
    state: randomState(draw),
  }));
const tableOf = (rows: ReturnType<typeof states>) =>
  sql`jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as i (instance_id text, state jsonb)`;

it('decides in SQL what the evaluator decides, for random conditions and states', async () => {
  let exact = 0;
  let partly = 0;
  const differences: unknown[] = [];
  for (let n = 0, rows = states(); n < CASES; n += 1) {
    if (n % 20 === 0) rows = states();
    const where = randomCondition(draw);
    const compiled = compileCondition(where);
    if (!compiled.ok) continue;
    const { condition } = compiled;
    const scopeOf = (row: (typeof rows)[0]) => ({ instance: row.state, id: row.instance_id });
    const holds = (what: typeof condition, row: (typeof rows)[0]) =>
      satisfies(what, scopeOf(row), { work: 250_000 });
    const split = splitCondition(condition);
    if (split.rest.length === 0) exact += 1;
    else partly += 1;
    const found = await sql<{ instance_id: string }>`
      select i.instance_id from ${tableOf(rows)} where ${split.exact}`.execute(db);
    const passed = new Set(found.rows.map(({ instance_id }) => instance_id));
    for (const row of rows) {
      const bySql = passed.has(row.instance_id) && split.rest.every((part) => holds(part, row));
      if (bySql !== holds(condition, row)) differences.push({ where, ...row, bySql });
    }
  }
  expect(differences.slice(0, 3)).toEqual([]);
  expect(exact).toBeGreaterThan(CASES * 0.5);
  expect(partly).toBeGreaterThan(CASES * 0.1);
});

it('orders in SQL as in memory, and finds what stands before and after a place', async () => {
  for (let n = 0; n < CASES / 10; n += 1) {
    const written = randomOrder(draw);
    const parsed = parseOrder(written);
    if (!parsed.ok) throw new Error(`${written}: ${parsed.problem}`);
    const { order } = parsed;
    const rows = states();
    const placed = rows.map(({ instance_id: id, state }) => ({ id, values: orderValues(order, id, state) }));
    const byId = parseOrder('id');
    const ids = byId.ok ? byId.order : [];
    const expected = placed
      .sort((a, b) => compareInOrder(order, a.values, b.values) || compareInOrder(ids, [a.id], [b.id]))
      .map(({ id }) => id);
    const select = async (where: ReturnType<typeof besideSql> | undefined) => {
      const { rows: found } = await sql<{ instance_id: string }>`
        select i.instance_id from ${tableOf(rows)} ${where ? sql`where ${where}` : sql``}
        order by ${orderSql(order)}`.execute(db);
      return found.map(({ instance_id }) => instance_id);
    };
    expect([written, ...(await select(undefined))]).toEqual([written, ...expected]);
    const at = Math.floor(draw.random() * placed.length);
    const there = placed[at];
    if (there === undefined) continue;
    expect([written, ...(await select(besideSql(order, there, 'after')))]).toEqual([
      written,
      ...expected.slice(at + 1),
    ]);
    expect([written, ...(await select(besideSql(order, there, 'before')))]).toEqual([
      written,
      ...expected.slice(0, at),
    ]);
  }
});
