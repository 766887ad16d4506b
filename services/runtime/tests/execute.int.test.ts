import { describe, expect, it } from 'vitest';
import { codeOf, type House, plantDeployment, prepareHouse, refusalOf } from './running-runtime.js';

const house: House = await prepareHouse();
await house.boot();

describe('execution', () => {
  it('creates, changes, answers, and leaves an entry that verifies', async () => {
    const { createCounter, execute, counter, history, verify } = await plantDeployment(house);
    await createCounter('c1', { label: 'a' });
    const { data: answer } = await execute({ id: 'c1' });
    expect(answer).toMatchObject({
      seq: 3,
      event: 'increment',
      eventVersion: 1,
      stateChanges: { 'counter:c1': { count: 1 } },
      result: null,
      pushes: [],
    });
    expect(await counter('c1')).toMatchObject({ state: { count: 1, label: 'a' }, revision: 2 });
    expect(await history()).toMatchObject([
      { seq: 3, status: 'succeeded', caller: 'account:1', trigger: 'admin' },
    ]);
    expect(await verify()).toMatchObject({ valid: true, entries: 3 });
  });

  it('counts every one of many that come at once', async () => {
    const { execute, counter, verify } = await plantDeployment(house);
    const answers = await Promise.all(Array.from({ length: 500 }, () => execute({ id: 'hot' })));
    const seqs = answers.map(({ data }) => (data as { seq: number }).seq).sort((a, b) => a - b);
    expect(seqs).toEqual(Array.from({ length: 500 }, (_, index) => index + 2));
    expect(await counter('hot')).toMatchObject({ state: { count: 500 }, revision: 500 });
    expect(await verify()).toMatchObject({ valid: true, entries: 501 });
  });

  it('leaves a failed entry from read on, and none before', async () => {
    const { execute, history } = await plantDeployment(house);
    expect(await codeOf(execute({ id: 'c1' }, {}, 'nothing'))).toBe('event_not_bound');
    expect(await codeOf(execute({ id: 'c1', extra: 1 }))).toBe('invalid_input');
    expect(await history()).toEqual([]);
    house.catalog.plantVersion({
      event: 'breaks',
      versionId: 50,
      inputSchema: {},
      mutationSettings: { mode: 'direct', template: { 'counter:x': { count: '{{ input.none }}' } } },
    });
    const broken = await plantDeployment(house, { bindings: [{ event: 'breaks', eventVersion: 1 }] });
    const refusal = await refusalOf(broken.execute({}, {}, 'breaks'));
    expect(refusal.code).toBe('template_failed');
    expect(refusal.facts).toMatchObject({ seq: 2 });
    expect(await broken.history()).toMatchObject([
      { status: 'failed', error: { code: 'template_failed' }, changes: [] },
    ]);
    expect(await broken.verify()).toMatchObject({ valid: true });
  });

  it('points to what is wrong by its place in the body, however it was asked', async () => {
    const { execute } = await plantDeployment(house);
    const wrong = { code: 'invalid_input', errors: [{ pointer: '/input/extra' }] };
    const detail = expect.stringMatching(/^\/input\/extra: /);
    for (const query of [{}, { dryRun: 'true' }]) {
      const refusal = await refusalOf(execute({ id: 'c', extra: 1 }, { query }));
      expect(refusal).toMatchObject(wrong);
      expect(refusal.message).toEqual(detail);
    }
    const large = await refusalOf(execute({ id: 'x'.repeat(66_000) }));
    expect(large.errors).toMatchObject([{ pointer: '/input', code: 'too_large' }]);
  });

  it('records how long it took in whole microseconds', async () => {
    const { execute, history } = await plantDeployment(house);
    for (let n = 0; n < 5; n += 1) await execute({ id: 'c' });
    for (const { durationMs } of await history()) expect(String(durationMs)).toMatch(/^\d+(\.\d{1,3})?$/);
  });

  it('uses a changed draft from the next run on', async () => {
    const { catalog } = house;
    const parts = (by: number) => ({
      event: 'drafted',
      versionId: 60,
      inputSchema: {},
      mutationSettings: {
        mode: 'direct' as const,
        template: { 'counter:d': { count: { $increment: by } } },
      },
    });
    catalog.plantVersion(parts(1));
    const { execute, counter } = await plantDeployment(house, {
      bindings: [{ event: 'drafted', eventVersion: 1 }],
    });
    await execute({}, {}, 'drafted');
    catalog.plantVersion(parts(10));
    await execute({}, {}, 'drafted');
    expect(await counter('d')).toMatchObject({ state: { count: 11 } });
  });

  it('answers a repeated Idempotency-Key as it answered first', async () => {
    const { execute, counter } = await plantDeployment(house);
    const headers = { 'idempotency-key': 'once' };
    const [one, two] = await Promise.all([
      execute({ id: 'k' }, { headers }),
      execute({ id: 'k' }, { headers }),
    ]);
    const three = await execute({ id: 'k' }, { headers });
    expect(two).toEqual(one);
    expect(three).toEqual(one);
    expect(await codeOf(execute({ id: 'other' }, { headers }))).toBe('idempotency_key_reused');
    expect(await counter('k')).toMatchObject({ state: { count: 1 } });
  });

  it('finds a deleted deployment no more, whatever its keys have answered', async () => {
    const { params, execute } = await plantDeployment(house);
    const headers = { 'idempotency-key': 'then deleted' };
    await execute({ id: 'k' }, { headers });
    await house.call('deployments.delete', { params });
    const later = [{ id: 'k' }, { id: 'other' }].map((input) => codeOf(execute(input, { headers })));
    expect(await Promise.all(later)).toEqual(['deployment_not_found', 'deployment_not_found']);
  });

  it('commits nothing on a dry run', async () => {
    const { execute, history, call } = { ...(await plantDeployment(house)), call: house.call };
    const { data } = await execute({ id: 'dry' }, { query: { dryRun: 'true' } });
    expect(data).toMatchObject({ dryRun: true, stateChanges: { 'counter:dry': { count: 1 } } });
    expect(await history()).toEqual([]);
    expect(call).toBeDefined();
  });

  it('refuses while paused', async () => {
    const { execute, params } = await plantDeployment(house);
    await house.call('deployments.pause', { params });
    await expect(execute({ id: 'p' })).rejects.toMatchObject({
      code: 'deployment_paused',
      message: 'Its owner has paused it, and alone can resume it.',
    });
    await house.call('deployments.resume', { params });
    await execute({ id: 'p' });
  });
});
