import { expect, it } from 'vitest';
import { incrementVersion } from './fake-catalog.js';
import { codeOf, type House, plantDeployment, prepareHouse, refusalOf } from './running-runtime.js';

const house: House = await prepareHouse();
let runtime = await house.boot();
const { call, catalog } = house;

/** A version that is bound, public and locked, and what a restored catalog gives its id to. */
const event = 'lost';
const executionSettings = { visibility: 'public' as const };
const LOST = { ...incrementVersion, event, versionId: 7, executionSettings, isLocked: true };
const TAKEN = { ...LOST, worldId: 2, isLocked: false };

const planted = async () => {
  catalog.plantVersion(LOST);
  const it = await plantDeployment(house, { bindings: [{ event, eventVersion: 1 }] });
  await it.execute({ id: 'a' }, {}, event);
  await call('deployments.publish', { params: it.params });
  return it;
};
const restoreCatalog = async () => {
  await runtime[Symbol.asyncDispose]();
  catalog.plantVersion(TAKEN);
  runtime = await house.boot();
};

it('nothing runs, is shown or locked by a version of another world that has the id of the bound one', async () => {
  const { params, execute, history } = await planted();
  const { data: fork } = await call('deployments.create', {
    params: { worldAddress: params.worldAddress },
    body: {
      name: 'What if',
      bindings: [],
      purpose: 'what_if',
      sourceDeployment: params.address,
      sourceSeq: 1,
    },
  });
  const before = await history();
  await restoreCatalog();
  expect(await refusalOf(execute({ id: 'a' }, {}, event))).toMatchObject({
    code: 'unknown_event_version',
    message: expect.stringMatching(/does not have version 1 of "lost" any more/),
  });
  for (const query of [{ dryRun: 'true' }, { dryRun: 'true', eventVersion: '1' }])
    expect(await codeOf(execute({ id: 'a' }, { query }, event))).toBe('unknown_event_version');
  const later = { params, body: { event, input: { id: 'a' }, after: 'PT1S' } };
  expect(await codeOf(call('deployments.execute', later))).toBe('unknown_event_version');
  expect(await codeOf(call('deployments.lock', { params }))).toBe('unknown_event_version');
  expect(catalog.calls.lock).toBe(0);
  expect((await call('deployments.describe', { params })).data.events).toEqual([]);
  expect(await history()).toEqual(before);
  const replayed = async (body: object) => {
    const forked = { ...params, address: fork.address };
    return (await call('deployments.replay', { params: forked, body: { seq: 2, ...body } })).data;
  };
  // What was executed is kept; a version that is named is that of the catalog.
  const versionHash = before[0]?.versionHash;
  expect(await replayed({})).toMatchObject({ outcome: 'executed', entry: { versionHash } });
  expect(await replayed({ eventVersion: 1 })).toMatchObject({
    outcome: 'refused',
    error: { code: 'unknown_event_version' },
  });
});
