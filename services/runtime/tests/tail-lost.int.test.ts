import { connect } from '@orrery/database';
import { createLogger } from '@orrery/service-kit';
import { describe, expect, it } from 'vitest';
import { rememberDeployment } from './lose-tail.js';
import { plantDeployment, prepareHouse } from './running-runtime.js';

const house = await prepareHouse();
const logger = createLogger({ service: 'test', level: 'silent' });
const { pool } = house.resources.use(
  'looking on',
  await connect({ url: house.databaseUrl, schema: 'runtime', applicationName: 'test', logger }),
);
let beforeCommit: (() => Promise<void>) | undefined;
await house.boot({
  aroundCommit: (commit) => async (batch) => {
    await beforeCommit?.();
    return commit(batch);
  },
});

describe('a database that lost its last commits under a living owner', () => {
  it('gets no hole: the journal goes on from what is there and first says what was lost', async () => {
    const [planted, other] = await Promise.all([plantDeployment(house), plantDeployment(house)]);
    await planted.execute({ id: 'q' });
    await other.execute({ id: 'q' });
    const goBack = await rememberDeployment(pool, planted.deployment.id);
    await planted.execute({ id: 'q' });
    const { data: last } = await planted.execute({ id: 'q' });
    const [lost] = await planted.history();
    const listAt = async (atSeq: number) =>
      (await house.call('instances.list', { params: planted.params, query: { atSeq } })).data;
    expect(await listAt(4)).toMatchObject([{ state: { count: 3 } }]);
    await goBack();
    expect(await listAt(2)).toMatchObject([{ state: { count: 1 } }]);
    const answers = await Promise.all([planted.execute({ id: 'q' }), other.execute({ id: 'q' })]);
    expect(answers.map(({ data }) => data)).toMatchObject([
      { seq: 4, stateChanges: { 'counter:q': { count: 2 } } },
      { seq: 3 },
    ]);
    const journal = await planted.history({ include: 'all' });
    expect(journal.map(({ seq, kind }) => [seq, kind])).toEqual([
      [4, 'execution'],
      [3, 'tail_lost'],
      [2, 'execution'],
      [1, 'deployment_created'],
    ]);
    expect(journal[1]).toMatchObject({
      input: { seq: 4, hash: lost?.hash },
      caller: 'service:runtime',
      changes: [],
    });
    expect(last).toMatchObject({ seq: 4 });
    expect(await listAt(4)).toMatchObject([{ state: { count: 2 } }]);
    expect(await planted.verify()).toMatchObject({ valid: true, entries: 4 });
    const kinds = (await other.history({ include: 'all' })).map(({ kind }) => kind);
    expect(kinds).not.toContain('tail_lost');
  });

  it('is noticed also when the connection broke at the same time, and everything is read anew', async () => {
    const planted = await plantDeployment(house);
    const goBack = await rememberDeployment(pool, planted.deployment.id);
    await planted.execute({ id: 'q' });
    beforeCommit = async () => {
      beforeCommit = undefined;
      await goBack();
      throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
    };
    expect((await planted.execute({ id: 'q' })).data).toMatchObject({ seq: 3 });
    const kinds = (await planted.history({ include: 'all' })).map(({ kind }) => kind);
    expect(kinds).toEqual(['execution', 'tail_lost', 'deployment_created']);
    expect(await planted.verify()).toMatchObject({ valid: true, entries: 3 });
  });
});
