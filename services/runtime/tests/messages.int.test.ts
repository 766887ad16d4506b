import type { Said } from '@orrery/contracts';
import { describe, expect, it } from 'vitest';
import { TEST_NETWORKS } from '../src/runs/payments/payment-config.js';
import { attribute, incrementVersion } from './fake-catalog.js';
import { type House, plantDeployment, prepareHouse, refusalOf } from './running-runtime.js';

const house: House = await prepareHouse();
await house.boot({
  payments: { ...TEST_NETWORKS, accepts: TEST_NETWORKS.accepts.filter(({ family }) => family === 'evm') },
});
const { call, catalog } = house;
catalog.plantSchema('horse', [attribute('wins', 'integer'), attribute('speed', 'float')]);
const priced = {
  ...incrementVersion,
  event: 'cheer',
  versionId: 10,
  executionSettings: { visibility: 'public' as const, priceUsd: 0.05 },
};
catalog.plantVersion(priced);
catalog.plantVersion({
  ...incrementVersion,
  event: 'race',
  versionId: 11,
  stateChanges: { horse: 'partial' },
  outputSchema: { winner: 'string' },
  mutationSettings: {
    mode: 'direct',
    template: { '{{ input.key }}': { wins: '{{ input.wins }}', lastFan: 'x' } },
  },
  inputSchema: null,
  readEntities: [],
});
catalog.plantVersion({
  ...incrementVersion,
  event: 'anything',
  versionId: 12,
  stateChanges: null,
  inputSchema: { key: 'string', n: 'integer?' },
  readEntities: [],
  mutationSettings: { mode: 'direct', template: { '{{ input.key }}': { wins: 1 } } },
});
catalog.plantVersion({
  ...incrementVersion,
  event: 'open_lot',
  versionId: 13,
  followUps: [
    { event: 'close_lot', after: 'PT5M' },
    { event: 'close_lot', after: 'PT9M' },
    { event: 'increment' },
    { event: 'open_lot', after: 'P1D' },
    { cancel: 'next' },
  ],
});
catalog.plantVersion({ ...incrementVersion, event: 'close_lots', versionId: 14 });
const EVENTS = ['increment', 'cheer', 'race', 'anything'];
const bound = {
  bindings: EVENTS.map((event) => ({ event, eventVersion: 1 })),
  payToAddress: `0x${'1'.repeat(40)}`,
};
const UNPAYABLE =
  'The public event "cheer" costs 0.05 USD and the deployment has no payToAddress: ' +
  'no wallet can execute it until the deployment has one.';

/** What an answer warns of. */
const told = ({ warnings = [] }: { warnings?: Said['warnings'] | undefined }): string[] =>
  warnings.map(({ pointer, message }) => `${pointer}: ${message}`);

describe('warnings', () => {
  it('tell of a version without anything to run when it is bound', async () => {
    catalog.plantVersion({ event: 'empty' });
    const { params } = await plantDeployment(house);
    const added = await call('bindings.add', { params, body: [{ event: 'empty', eventVersion: 1 }] });
    expect(told(added)).toEqual([
      '/0/event: The version has neither a template nor a behaviorPrompt, so each execution is refused with mutation_missing.',
    ]);
  });

  it('tell of a price that nobody can pay: when bound, when published, when the receiver is removed', async () => {
    const world = { worldAddress: String(catalog.world.id) };
    const bindings = [{ event: 'cheer', eventVersion: 1 }];
    const body = { name: 'Priced', bindings };
    const sent = { params: world, headers: { 'idempotency-key': 'priced' }, body };
    const created = await call('deployments.create', sent);
    expect(told(created)).toEqual([`/bindings/0/event: ${UNPAYABLE}`]);
    expect(await call('deployments.create', sent)).toEqual(created);

    const { params } = await plantDeployment(house);
    const add = { params, headers: { 'idempotency-key': 'add priced' }, body: bindings };
    const added = await call('bindings.add', add);
    expect(told(added)).toEqual([`/0/event: ${UNPAYABLE}`]);
    expect(await call('bindings.add', add)).toEqual(added);
    expect(told(await call('bindings.update', { params, body: bindings }))).toEqual([
      `/0/event: ${UNPAYABLE}`,
    ]);
    expect(await call('deployments.publish', { params })).toMatchObject({
      data: { isPublic: true },
      message: 'Deployment published successfully',
      warnings: [{ pointer: '', code: 'pay_to_address_missing', message: UNPAYABLE }],
    });
    expect(told(await call('deployments.publish', { params }))).toEqual([`: ${UNPAYABLE}`]);
    await call('deployments.update', { params, body: { payToAddress: `0x${'1'.repeat(40)}` } });
    expect((await call('deployments.publish', { params })).message).toBe('Deployment is already public');
    const update = (change: object) => call('deployments.update', { params, body: change });
    expect(told(await update({ payToAddress: null, name: 'Free' }))).toEqual([`/payToAddress: ${UNPAYABLE}`]);
    expect(await update({ name: 'Still free' })).not.toHaveProperty('warnings');
  });

  it('tell of a receiver on chains where the operator takes no payments, wherever one without a receiver is told of', async () => {
    const text =
      'The public event "cheer" costs 0.05 USD and this service takes no payments on Solana, where the deployment\'s ' +
      'payToAddress is: no wallet can execute it until the deployment has one on EVM chains.';
    const [payToAddress, bindings] = ['1'.repeat(32), [{ event: 'cheer', eventVersion: 1 }]];
    const created = await call('deployments.create', {
      params: { worldAddress: String(catalog.world.id) },
      body: { name: 'On Solana', bindings, payToAddress },
    });
    expect(told(created)).toEqual([`/bindings/0/event: ${text}`]);

    const { params } = await plantDeployment(house, { payToAddress, bindings: [] });
    const update = (body: object) => call('deployments.update', { params, body });
    expect(told(await call('bindings.add', { params, body: bindings }))).toEqual([`/0/event: ${text}`]);
    expect(told(await call('bindings.update', { params, body: bindings }))).toEqual([`/0/event: ${text}`]);
    expect(told(await call('deployments.publish', { params }))).toEqual([`: ${text}`]);
    expect(told(await update({ payToAddress }))).toEqual([`/payToAddress: ${text}`]);
    expect(await update({ payToAddress: `0x${'1'.repeat(40)}` })).not.toHaveProperty('warnings');
    expect(await update({ name: 'On EVM chains' })).not.toHaveProperty('warnings');
  });

  it('tell of an event that follows and is not bound', async () => {
    const bind = (...events: string[]) => events.map((event) => ({ event, eventVersion: 1 }));
    const text = (meant = '') =>
      `Executions of "open_lot" set others of "close_lot", which is not bound.${meant} They fail until the deployment binds it.`;
    const created = await call('deployments.create', {
      params: { worldAddress: String(catalog.world.id) },
      body: { name: 'Auction', bindings: bind('increment', 'open_lot') },
    });
    expect(created.warnings).toEqual([
      {
        ...{ pointer: '/bindings/1/event', code: 'event_not_bound', message: text() },
        suggestion: 'Bind "close_lot", too.',
      },
    ]);
    const { params } = await plantDeployment(house, { bindings: bind('increment') });
    const add = (...events: string[]) => call('bindings.add', { params, body: bind(...events) });
    expect(told(await add('open_lot', 'close_lots'))).toEqual([
      `/0/event: ${text(' Did you mean "close_lots"?')}`,
    ]);
    expect(told(await call('bindings.update', { params, body: bind('open_lot') }))).toEqual([
      `/0/event: ${text(' Did you mean "close_lots"?')}`,
    ]);
    catalog.plantVersion({ ...incrementVersion, event: 'close_lot', versionId: 15 });
    expect(await add('close_lot')).not.toHaveProperty('warnings');
    expect(await call('bindings.update', { params, body: bind('open_lot') })).not.toHaveProperty('warnings');
  });

  it('tell of filter names that the version does not declare', async () => {
    const onchain = {
      stateChanges: ['wins', 'winz', 'horse.speed', 'lastFan', 'counter.count'],
      result: ['winer'],
    };
    const names = [
      '/0/onchain/stateChanges/1: No entity schema that the version may change has an attribute "winz". Did you mean "wins"?',
      '/0/onchain/stateChanges/4: No entity schema that the version may change has an attribute "counter.count".',
      '/0/onchain/result/0: The version declares no result key "winer". Did you mean "winner"?',
    ];
    const { params } = await plantDeployment(house);
    const race = { event: 'race', eventVersion: 1 };
    expect(told(await call('bindings.add', { params, body: [{ ...race, onchain }] }))).toEqual(names);
    // The version stays bound and is not named.
    expect(told(await call('bindings.update', { params, body: [{ event: 'race', onchain }] }))).toEqual(
      names,
    );
    const fine = { stateChanges: ['wins', 'horse.speed'], result: ['winner'] };
    expect(
      await call('bindings.update', { params, body: [{ event: 'race', onchain: fine }] }),
    ).not.toHaveProperty('warnings');
  });
});

describe('messages', () => {
  it('name the value found, what is missing and what may be meant', async () => {
    const { params, execute } = await plantDeployment(house, bound);
    const told = async (promise: Promise<unknown>) => (await refusalOf(promise)).message;
    const create = (body: object) => call('instances.create', { params, body });
    await create({ entitySchema: 'horse', instanceId: 'H1', state: { wins: 1 } });

    expect(await told(execute({ key: 7 }, {}, 'anything'))).toBe(
      '/input/key: The value must be of type string; found the number 7.',
    );
    expect(await told(execute({ kye: 'x' }, {}, 'anything'))).toContain(
      '/input/key: The field "key" is required.',
    );
    expect(
      (await refusalOf(execute({ kye: 'x' }, {}, 'anything'))).errors.map(({ message }) => message),
    ).toContain('The field "kye" is not declared. Did you mean "key"?');
    expect(await told(execute({}, {}, 'incremnt'))).toBe(
      'The event "incremnt" is not bound in this deployment. Did you mean "increment"? Its owner binds events with POST …/event-bindings.',
    );
    expect(await told(execute({}, {}, 'zzz'))).toBe(
      'The event "zzz" is not bound in this deployment. Bound are: increment, cheer, race, anything. Its owner binds events with POST …/event-bindings.',
    );
    expect(await told(create({ entitySchema: 'hrose', instanceId: 'H2', state: {} }))).toBe(
      'The world has no entity schema "hrose". Did you mean "horse"?',
    );
    expect(await told(create({ entitySchema: 'horse', instanceId: 'H2', state: { wins: 'many' } }))).toBe(
      '/state/wins: The attribute "wins" must be a whole number; found the text "many".',
    );
    expect(await told(create({ entitySchema: 'horse', instanceId: 'H2 ', state: {} }))).toBe(
      '/instanceId: The text "H2 " has a space at its end. Leave it out.',
    );
    expect(await told(create({ entitySchema: 'horse', instanceId: 'H1', state: {} }))).toBe(
      'The instance "horse:H1" exists already.',
    );
    expect(await told(call('instances.get', { params: { ...params, instanceId: 'H1 ' } }))).toBe(
      'The deployment has no instance "H1 ". The text "H1 " has a space at its end. Leave it out.',
    );
    expect(await told(call('instances.get', { params: { ...params, instanceId: 'horse:H1' } }))).toBe(
      'The deployment has no instance "horse:H1". A path takes the instanceId alone: …/entity-instances/H1?entitySchema=horse.',
    );
    expect(await told(execute({ key: 'horse:H1 ', wins: 1 }, {}, 'race'))).toBe(
      '"horse:H1 ": The text "H1 " has a space at its end. Leave it out.',
    );
    expect(await told(execute({ key: 'nosuch:X', wins: 1 }, {}, 'race'))).toBe(
      'The version\'s stateChanges does not name "nosuch", so this event may not change instances of it.',
    );
    expect(await told(execute({ key: 'hrose:X' }, {}, 'anything'))).toBe(
      'The world has no entity schema "hrose". Did you mean "horse"?',
    );
    expect(await told(execute({ key: 'horse:H1', wins: 0.5 }, {}, 'race'))).toBe(
      '/horse:H1/wins: The attribute "wins" must be a whole number; found the number 0.5.',
    );
    expect(await told(call('bindings.remove', { params, query: { event: 'rcae' } }))).toBe(
      'The event "rcae" is not bound. Did you mean "race"?',
    );
    const chains = [{ event: 'race', targetChains: ['base-sepola'] }];
    expect(await told(call('bindings.update', { params, body: chains }))).toBe(
      'No chain is named "base-sepola". Did you mean "base-sepolia"? GET /api/chains lists those that can be named.',
    );
    expect(await told(call('deployments.update', { params, body: { aiModelId: 'duoble' } }))).toBe(
      'There is no AI model "duoble". Did you mean "double"? GET /api/ai-models lists them.',
    );
  });
});
