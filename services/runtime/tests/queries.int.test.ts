import { type AggregateQuery, type JsonObject, ServiceError } from '@orrery/contracts';
import { connect } from '@orrery/database';
import {
  compareInOrder,
  compileCondition,
  orderValue,
  orderValues,
  parseOrder,
  satisfies,
} from '@orrery/expressions';
import { createLogger, systemClock } from '@orrery/service-kit';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { answerOf, createGathering } from '../src/core/queries/aggregate.js';
import { indexedValue } from '../src/core/queries/indexed-value.js';
import { readAggregation } from '../src/core/queries/read-query.js';
import {
  queryCount,
  queryGroups,
  queryPage,
  queryRank,
} from '../src/store/deployments/queries/present-instances.js';
import { type InstanceQuery, sourced } from '../src/store/deployments/queries/query-source.js';
import { QueryWork } from '../src/store/deployments/queries/query-work.js';
import type { RuntimeSchema } from '../src/store/tables/schema.js';
import { attribute } from './fake-catalog.js';
import { drawFrom, randomCondition, randomOrder, randomState, seeded } from './random-conditions.js';
import { codeOf, OTHER, plantDeployment, prepareHouse, refusalOf } from './running-runtime.js';

const house = await prepareHouse();
const logger = createLogger({ service: 'test', level: 'error' });
const place = { url: house.databaseUrl, schema: 'runtime', applicationName: 'test', logger };
const { db } = house.resources.use('queries', await connect<RuntimeSchema>(place));
house.catalog.plantSchema('horse', [
  attribute('wins', 'integer', { defaultValue: 0 }),
  attribute('speed', 'float'),
  attribute('stable', 'string'),
  attribute('injured', 'boolean'),
]);
await house.boot();

/** Attributes of random states, as they are stored: names are in NFC. */
const INDEXED = ['a', 'b', 'n\u00e9', 'x y'];

const never = new AbortController().signal;
/** A busy machine may take longer than a query has. */
const work = () => new QueryWork({ ...systemClock, monotonic: () => 0 }, never);
const at = new Date();

describe('a query in SQL finds what the evaluator finds in memory', async () => {
  const draw = drawFrom(seeded(31));
  const STATES = 300;
  const states = Array.from({ length: STATES }, (_, n) => ({
    id: `${draw.pick(['a', 'é', '\u{1F40E}'])}${n}`,
    state: JSON.parse(JSON.stringify(randomState(draw))) as JsonObject,
  }));
  await db
    .insertInto('instances')
    .values(
      states.map(({ id, state }, n) => ({
        ...{ id: 9_000_000 + n, deployment_id: 9_000_000, entity_schema: 'random', instance_id: id },
        ...{ state: JSON.stringify(state) as never, revision: 1, created_at: at, updated_at: at },
      })),
    )
    .execute();
  for (const [n, attribute] of INDEXED.entries()) {
    const id = 9_000_000 + n;
    await sql`
      insert into attribute_indexes (id, deployment_id, partition, entity_schema, schema_id, attribute, state)
      overriding system value values (${id}, 9000000, -1, 'random', 1, ${attribute}, 'complete')`.execute(db);
    const rows = states.map(({ id: instance_id, state }) => ({
      ...{ index_id: id, instance_id },
      ...indexedValue(orderValue(state[attribute])),
    }));
    await sql`insert into indexed_values select * from
      jsonb_populate_recordset(null::indexed_values, ${JSON.stringify(rows)}::jsonb)`.execute(db);
  }
  /** Half of them begin with an attribute that is indexed, or compare one. */
  const draws = Array.from({ length: 160 }, () => {
    const comparison = `instance[${JSON.stringify(draw.pick(INDEXED))}] ${draw.pick(['==', '<', '<=', '>', '>=', '!='])} ${draw.pick(['1', '"b"', `"${'x'.repeat(300)}"`, '-1.5', 'true', '0.0', 'null'])}`;
    return {
      where: draw.random() < 0.4 ? `${comparison} && ${randomCondition(draw)}` : randomCondition(draw),
      orderBy: `${draw.random() < 0.5 ? `${JSON.stringify(draw.pick(INDEXED))} ${draw.pick(['asc', 'desc'])}, ` : ''}${randomOrder(draw)}`,
    };
  });
  const read = ({ where, orderBy }: (typeof draws)[0]) => {
    const [compiled, parsed] = [compileCondition(where), parseOrder(orderBy)];
    if (!compiled.ok || !parsed.ok) throw new Error(`${where} ${orderBy}`);
    const query: InstanceQuery = {
      ...{ deploymentId: 9_000_000, entitySchema: 'random' },
      ...{ condition: compiled.condition, order: parsed.order },
    };
    const matching = states.filter(({ id, state }) =>
      satisfies(compiled.condition, { instance: state, id }, { work: 250_000 }),
    );
    return { query, matching };
  };
  const idOrder = [{ path: null, isDescending: false }];
  const sorted = (found: typeof states, { order }: InstanceQuery) =>
    [...found].sort(
      (a, b) =>
        compareInOrder(order, orderValues(order, a.id, a.state), orderValues(order, b.id, b.state)) ||
        compareInOrder(idOrder, [a.id], [b.id]),
    );

  const WAYS = [
    ['with indexes', true],
    ['without them', false],
  ] as const;
  it('reads indexes for many of these', async () => {
    const ways = { inOrder: 0, narrowed: 0 };
    for (const one of draws) {
      const { source, inOrder } = await sourced(db, read(one).query);
      if (inOrder !== undefined) ways.inOrder += 1;
      else if (source.compile(db).sql.includes('indexed_values')) ways.narrowed += 1;
    }
    expect(ways.inOrder).toBeGreaterThan(40);
    expect(ways.narrowed).toBeGreaterThan(20);
  });

  it.each(WAYS)('page by page, and counts them, %s', async (_way, usesIndexes) => {
    let partly = 0;
    for (const one of draws) {
      const { query, matching } = read(one);
      const expected = sorted(matching, query).map(({ id }) => id);
      const now = await sourced(db, query, { usesIndexes });
      const found: string[] = [];
      for (let after: { id: string; values: ReturnType<typeof orderValues> } | undefined; ; ) {
        const limit = 13;
        const rows = await queryPage(db, now, { limit, after }, work());
        found.push(...rows.slice(0, limit).map(({ instanceId }) => instanceId));
        const last = rows[limit - 1];
        if (rows.length <= limit || last === undefined) break;
        partly += 1;
        after = { id: last.instanceId, values: orderValues(query.order, last.instanceId, last.state) };
      }
      expect([one, ...found]).toEqual([one, ...expected]);
      expect(await queryCount(db, now, work())).toBe(expected.length);
    }
    expect(partly).toBeGreaterThan(50);
  });

  it.each(WAYS)('and tells places, %s', async (_way, usesIndexes) => {
    for (const one of draws.slice(0, 60)) {
      const { query } = read(one);
      const whole = { ...query, condition: undefined };
      const { id = '' } = draw.pick(states);
      const rank = sorted(states, query).findIndex((state) => state.id === id) + 1;
      const path = { instanceId: id, entitySchema: 'random' };
      const now = await sourced(db, whole, { usesIndexes });
      expect([one, await queryRank(db, now, path)]).toEqual([one, { rank, total: STATES }]);
    }
  });

  it.each(WAYS)('and gathers groups, %s', async (_way, usesIndexes) => {
    for (const one of draws) {
      const { query, matching } = read(one);
      const asked = {
        ...(draw.random() < 0.7 && { groupBy: draw.pick(['a', 'a, b', 'c', '"x y"', 'a.b']) }),
        count: true,
        sum: 'a, b',
        min: 'a, c',
        max: 'a',
        avg: 'b, "né"',
      };
      const now = await sourced(db, query, { usesIndexes });
      const aggregation = readAggregation({ entitySchema: 'random', ...asked } as AggregateQuery);
      const gathering = createGathering(aggregation);
      for (const { state } of matching) gathering.add(state);
      const found = answerOf(aggregation, await queryGroups(db, now, aggregation, work()));
      expect([one, asked, found]).toEqual([one, asked, answerOf(aggregation, gathering.groups())]);
    }
  });
});

async function stable() {
  const deployment = await plantDeployment(house);
  const { params } = deployment;
  const horse = (instanceId: string, state: JsonObject) =>
    house.call('instances.create', { params, body: { entitySchema: 'horse', instanceId, state } });
  await horse('A', { wins: 3, speed: 61.5, stable: 'red' });
  await horse('B', { wins: 5, speed: 60, stable: 'red', injured: true });
  await horse('C', { wins: 3, speed: 70, stable: 'blue' });
  await horse('D', { speed: 10 });
  await deployment.createCounter('A', { count: 1 });
  const list = (query: object) =>
    house.call('instances.list', { params, query: { entitySchema: 'horse', ...query } });
  const ids = async (query: object) => (await list(query)).data.map(({ instanceId }) => instanceId).join(' ');
  return { ...deployment, horse, list, ids };
}

describe('a query over HTTP parameters', async () => {
  const { params, list, ids } = await stable();

  it('selects and orders, missing attributes last', async () => {
    expect(await ids({ where: 'instance.wins > 3 || instance.stable == "blue"' })).toBe('B C');
    expect(await ids({ where: '!(instance.injured)', orderBy: 'stable, speed desc' })).toBe('C A D');
    expect(await ids({ orderBy: 'wins desc, speed' })).toBe('B A C D');
    expect(await ids({ orderBy: 'stable desc' })).toBe('A B C D');
    expect(await ids({ where: 'instance.speed * 2.0 > 121.0', orderBy: 'speed' })).toBe('A C');
    expect(await ids({ where: 'id in ["D", "A"]' })).toBe('A D');
  });

  it('goes on by cursor, and counts when asked to', async () => {
    const first = await list({ orderBy: 'wins desc, speed', limit: 3, count: 'true' });
    expect(first.pagination).toEqual({ limit: 3, total: 4, next: expect.any(String) });
    const { next } = first.pagination as { next: string };
    const second = await list({ orderBy: 'wins desc, speed', limit: 3, cursor: next });
    expect(second.data.map(({ instanceId }) => instanceId)).toEqual(['D']);
    expect(second.pagination).toEqual({ limit: 3, next: null });
    const other = await refusalOf(list({ orderBy: 'wins', cursor: next }));
    expect([other.code, other.errors[0]?.pointer]).toEqual(['validation_failed', '#query/cursor']);
  });

  it('goes on by cursor through the instances of all schemas, which have their ids in common', async () => {
    const query = { entitySchema: undefined, orderBy: 'id', limit: 2, count: 'true' };
    const pages: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const { data, pagination } = await list({ ...query, cursor });
      const { next, total } = pagination as { next: string | null; total: number };
      expect(total).toBe(5);
      pages.push(data.map(({ entitySchema, instanceId }) => `${entitySchema}:${instanceId}`).join(' '));
      cursor = next;
    }
    expect(pages).toEqual(['counter:A horse:A', 'horse:B horse:C', 'horse:D']);
    const { next } = (await list(query)).pagination as { next: string };
    expect(await codeOf(list({ orderBy: 'id', cursor: next }))).toBe('validation_failed');
  });

  it.each([
    [{ where: 'wins > 3' }, 'validation_failed', '#query/where'],
    [{ where: 'instance.wins +' }, 'validation_failed', '#query/where'],
    [{ where: 'instance.wins + 1' }, 'validation_failed', '#query/where'],
    [{ where: '"a"' }, 'validation_failed', '#query/where'],
    [{ orderBy: 'wins down' }, 'validation_failed', '#query/orderBy'],
    [{ orderBy: 'a, b, c, d, e' }, 'validation_failed', '#query/orderBy'],
    [{ orderBy: 'wins,' }, 'validation_failed', '#query/orderBy'],
    [{ orderBy: 'wins', cursor: 'bm9uZQ' }, 'validation_failed', '#query/cursor'],
    [{ entitySchema: undefined, orderBy: 'wins' }, 'validation_failed', '#query/entitySchema'],
    [{ entitySchema: undefined, orderBy: 'id desc' }, 'validation_failed', '#query/entitySchema'],
    [{ entitySchema: undefined, orderBy: 'id', where: 'true' }, 'validation_failed', '#query/entitySchema'],
    [{ entitySchema: undefined, orderBy: 'id', atSeq: 1 }, 'validation_failed', '#query/entitySchema'],
    [{ entitySchema: undefined, orderBy: 'id', cursor: 'bm9uZQ' }, 'validation_failed', '#query/cursor'],
    [{ entitySchema: undefined, orderBy: 'id', page: 2 }, 'conflicting_fields', undefined],
    [{ orderBy: 'wins', page: 2 }, 'conflicting_fields', undefined],
  ])('refuses %j', async (query, code, pointer) => {
    const refusal = await refusalOf(list(query));
    expect([refusal.code, refusal.errors[0]?.pointer]).toEqual([code, pointer]);
  });

  it('counts, adds up and groups', async () => {
    const aggregate = async (query: object) =>
      (await house.call('instances.aggregate', { params, query: { entitySchema: 'horse', ...query } })).data;
    expect(await aggregate({})).toEqual([{ group: {}, count: 4 }]);
    expect(await aggregate({ sum: 'wins, speed', avg: 'wins', min: 'stable', max: 'speed, absent' })).toEqual(
      [
        {
          group: {},
          sum: { wins: 11, speed: 201.5 },
          avg: { wins: 11 / 4 },
          min: { stable: 'blue' },
          max: { speed: 70, absent: null },
        },
      ],
    );
    expect(
      await aggregate({ groupBy: 'stable', count: '', sum: 'wins', where: 'instance.speed > 20' }),
    ).toEqual([
      { group: { stable: 'blue' }, count: 1, sum: { wins: 3 } },
      { group: { stable: 'red' }, count: 2, sum: { wins: 8 } },
    ]);
    expect(await aggregate({ where: 'false', avg: 'wins', sum: 'wins' })).toEqual([
      { group: {}, sum: { wins: 0 }, avg: { wins: null } },
    ]);
    const refusal = await refusalOf(aggregate({ sum: 'wins desc' }));
    expect([refusal.code, refusal.errors[0]?.pointer]).toEqual(['validation_failed', '#query/sum']);
  });

  it('tells the place of an instance', async () => {
    const rank = (instanceId: string, query: object = {}) =>
      house.call('instances.rank', {
        params: { ...params, instanceId },
        query: { entitySchema: 'horse', orderBy: 'wins desc, speed', ...query },
      });
    expect((await rank('C')).data).toEqual({ entitySchema: 'horse', instanceId: 'C', rank: 3, total: 4 });
    expect((await rank('D')).data).toMatchObject({ rank: 4 });
    expect((await refusalOf(rank('X'))).code).toBe('entity_instance_not_found');
  });

  it('shows others nothing', async () => {
    const query = { entitySchema: 'horse', orderBy: 'wins' };
    const asked = [
      house.call('instances.list', { params, query }, { accountId: OTHER }),
      house.call('instances.list', { params, query: { orderBy: 'id' } }, { accountId: OTHER }),
      house.call('instances.aggregate', { params, query: { entitySchema: 'horse' } }, { accountId: OTHER }),
      house.call('instances.rank', { params: { ...params, instanceId: 'A' }, query }, { accountId: OTHER }),
    ];
    const codes = (await Promise.all(asked.map(refusalOf))).map(({ code }) => code);
    expect(codes).toEqual(asked.map(() => 'deployment_not_found'));
  });
});

describe('an answer to the owner', async () => {
  const { params, list } = await stable();
  /** What is told of a query over horses, and how often the catalog was asked for it. */
  async function told(query: object, name: 'list' | 'aggregate' | 'rank' = 'list', accountId?: number) {
    const before = house.catalog.calls.confirm;
    const path = name === 'rank' ? { ...params, instanceId: 'A' } : params;
    const sent = { params: path, query: { entitySchema: 'horse', ...query } };
    const as = accountId === undefined ? undefined : { accountId };
    const { warnings = [] } = await house.call(`instances.${name}`, sent, as);
    const calls = house.catalog.calls.confirm - before;
    return { calls, told: warnings.map(({ pointer, message }) => `${pointer}: ${message}`) };
  }
  const NO = 'The entity schema "horse" has no attribute';

  it('tells of attributes that are likely meant otherwise', async () => {
    expect((await told({ where: 'instance.winz > 3', orderBy: 'speeed desc' })).told).toEqual([
      `#query/where: ${NO} "winz". Did you mean "wins"?`,
      `#query/orderBy: ${NO} "speeed". Did you mean "speed"?`,
    ]);
    expect((await told({ groupBy: 'stabel', sum: 'price, wins' }, 'aggregate')).told).toEqual([
      `#query/groupBy: ${NO} "stabel". Did you mean "stable"?`,
      `#query/sum: ${NO} "price".`,
    ]);
    expect((await told({ orderBy: 'victories desc' }, 'rank')).told).toEqual([
      `#query/orderBy: ${NO} "victories".`,
    ]);
  });

  it('tells of a schema that the world does not have, and of none that has no instances yet', async () => {
    const text = '#query/entitySchema: The world has no entity schema "hores". Did you mean "horse"?';
    for (const query of [{}, { orderBy: 'winz' }, { where: 'instance.wins > 3', count: 'true' }])
      expect((await told({ entitySchema: 'hores', ...query })).told).toEqual([text]);
    expect((await told({ entitySchema: 'hores', sum: 'wins' }, 'aggregate')).told).toEqual([text]);
    house.catalog.plantSchema('foal', [attribute('wins', 'integer')]);
    expect((await told({ entitySchema: 'foal' })).told).toEqual([]);
    expect((await told({ entitySchema: 'foal', orderBy: 'wins' })).told).toEqual([]);
  });

  it('asks the catalog of no query whose names it remembers, nor for what the past or others see', async () => {
    await told({ orderBy: 'wins' });
    const fine = { where: 'instance.wins > 3 || instance.colour == "bay"', orderBy: 'id, speed desc' };
    expect(await told(fine)).toEqual({ calls: 0, told: [] });
    expect(await told({})).toEqual({ calls: 0, told: [] });
    expect(await told({ orderBy: 'winz', atSeq: 2 })).toEqual({ calls: 0, told: [] });
    await house.call('deployments.publish', { params });
    expect(await told({ orderBy: 'winz' }, 'list', OTHER)).toEqual({ calls: 0, told: [] });
  });

  it('follows the schema, and is whole without the catalog', async () => {
    const now = [attribute('wins', 'integer'), attribute('winz', 'integer')];
    house.catalog.plantSchema('mare', [attribute('wins', 'integer')]);
    const query = { entitySchema: 'mare', orderBy: 'winz' };
    expect((await told(query)).told).toHaveLength(1);
    house.catalog.plantSchema('mare', now);
    expect(await told(query)).toEqual({ calls: 1, told: [] });
    const { handlers } = house.catalog;
    const confirm = handlers['definitions.confirm'];
    handlers['definitions.confirm'] = () => Promise.reject(new ServiceError('unavailable'));
    expect((await told({ orderBy: 'winz' })).told).toEqual([]);
    expect((await list({ orderBy: 'winz' })).data).toHaveLength(4);
    handlers['definitions.confirm'] = confirm;
    expect((await told({ orderBy: 'winz' })).told).toHaveLength(1);
  });
});

it('answers for a past position what it answered then', async () => {
  const { params, list, horse } = await stable();
  const seq =
    (await house.call('history.list', { params, query: { include: 'all', limit: '1' } })).data[0]?.seq ?? 0;
  const queries = [
    { orderBy: 'wins desc, speed' },
    { where: 'instance.wins >= 3', orderBy: 'speed desc', limit: 2, count: 'true' },
    { where: 'instance.speed * 2.0 > 121.0' },
  ];
  const aggregate = { entitySchema: 'horse', groupBy: 'stable', sum: 'speed', min: 'wins', count: 'true' };
  const rank = { entitySchema: 'horse', orderBy: 'speed desc' };
  const answers = async (past: object) => [
    ...(await Promise.all(
      queries.map(async (query) => {
        const { data, pagination } = await list({ ...query, ...past });
        const { next, ...rest } = pagination as { next: string | null };
        return [data, rest, next === null];
      }),
    )),
    (await house.call('instances.aggregate', { params, query: { ...aggregate, ...past } })).data,
    (
      await house.call('instances.rank', {
        params: { ...params, instanceId: 'B' },
        query: { ...rank, ...past },
      })
    ).data,
  ];
  const then = await answers({});
  const update = (instanceId: string, state: JsonObject) =>
    house.call('instances.update', {
      params: { ...params, instanceId },
      query: { entitySchema: 'horse' },
      body: { state },
    });
  await update('C', { wins: 50, speed: 1 });
  await update('B', { wins: 0, speed: 100, stable: 'green' });
  await horse('E', { wins: 7, speed: 99 });
  expect(await answers({})).not.toEqual(then);
  expect(await answers({ atSeq: seq })).toEqual(then);
  const query = { entitySchema: 'horse', orderBy: 'wins', atSeq: 99 };
  expect((await refusalOf(list(query))).code).toBe('entity_instance_not_found');
});
