/** What a direct version of the event of the racing world is. */
export const direct = {
  inputSchema: { winner: 'string' },
  readEntities: [{ schema: 'horse', filter: ['winner'] }],
  stateChanges: { horse: 'partial' },
  mutationSettings: {
    mode: 'direct',
    template: {
      stateChanges: { 'horse:{{input.winner}}': { wins: { $increment: 1 } } },
      result: { winner: '{{input.winner}}' },
    },
  },
};
/** The same event as one that runs by itself. */
export const daily = {
  ...direct,
  executionSettings: {
    visibility: 'cron',
    cron: { schedule: '0 9 * * *', timezone: 'Europe/Vienna', input: { winner: 'HORSE_1' } },
  },
};
/** The wallet that signs in the examples. */
export const wallet = '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU';
export const wins = {
  ...{ name: 'wins', type: 'integer', constraints: { min: 0 }, defaultValue: 0 },
  indexed: true,
};
export const speed = { name: 'speed', type: 'float', constraints: { min: 0, max: 100 }, defaultValue: 50 };
export const webhook = { url: 'https://scores.example/orrery', events: ['race-result'], status: 'succeeded' };
const bindings = [{ event: 'race-result', eventVersion: 1 }];

/** Bodies by operation that build a racing world. An e2e test sends each of them to a running server. */
export const BODY_EXAMPLES: Readonly<Record<string, unknown>> = {
  'worlds.create': {
    name: 'Race track',
    domainTags: ['racing'],
    promptSeed: 'A small track with honest horses.',
  },
  'worlds.check': {
    entitySchemas: [{ name: 'horse', attributes: [wins] }],
    events: [{ name: 'race-result', firstVersion: direct }],
  },
  'worlds.update': { description: 'Races every hour' },
  'entitySchemas.create': { name: 'horse', attributes: [wins] },
  'entitySchemas.update': { description: 'A horse and its record' },
  'attributes.create': speed,
  'attributes.update': { constraints: { min: 0, max: 120 } },
  'events.create': { name: 'race-result', firstVersion: direct },
  'events.update': { description: 'A race has been run' },
  'versions.create': daily,
  'versions.update': { executionSettings: { visibility: 'public' } },
  'deployments.create': { name: 'Season 1', bindings },
  'deployments.update': { name: 'Season one', isCodePublic: true },
  'bindings.add': bindings,
  'bindings.update': [{ event: 'race-result', eventVersion: 2 }],
  'instances.create': { entitySchema: 'horse', instanceId: 'HORSE_1', state: { wins: 3 } },
  'instances.update': { state: { wins: 4 } },
  'instances.check': {
    entitySchema: 'horse',
    attributes: [{ name: 'victories', type: 'integer', constraints: { required: true } }],
    mapping: { victories: '{{ instance.wins }}' },
  },
  'instances.map': {
    entitySchema: 'horse',
    where: 'has(instance.laps)',
    mapping: { wins: '{{ instance.laps }}', laps: null },
  },
  'deployments.execute': { event: 'race-result', input: { winner: 'HORSE_1' } },
  'deployments.try': {
    event: 'race-result',
    definition: {
      inputSchema: { winner: 'string' },
      readEntities: [{ schema: 'horse', filter: ['winner'] }],
      stateChanges: { horse: 'partial' },
      mutationSettings: {
        mode: 'direct',
        template: { 'horse:{{ input.winner }}': { wins: { $increment: 2 } } },
      },
    },
    input: { winner: 'HORSE_1' },
  },
  'deployments.replay': { seq: 5, eventVersion: 2 },
  'public.execute': {
    event: 'race-result',
    input: { winner: 'HORSE_1' },
    wallet,
    signature: '5'.repeat(88),
    message: `orrery:0x${'5a'.repeat(20)}:race-result:1763976600000`,
  },
  'public.executeEvent': {
    input: { winner: 'HORSE_1' },
    wallet,
    signature: '5'.repeat(88),
    message: `orrery:0x${'5a'.repeat(20)}:race-result:1763976600001`,
  },
  'webhooks.create': webhook,
  'webhooks.update': { events: null, isEnabled: true },
  'webhooks.redeliver': { historyId: '0190f3c2-7c1e-7a10-8c00-000000000001' },
  'cron.preview': { schedule: '0 9 * * *' },
  'auth.challenge': {
    wallet,
    purpose: 'key',
    name: 'scoreboard',
    scopes: ['read'],
  },
  'auth.code': { code: 'n'.repeat(43) },
  'auth.token': {
    wallet,
    message: 'orrery.example wants you to sign in with your Solana account:\n…',
    signature: '5'.repeat(88),
  },
  'keys.create': { name: 'scoreboard', scopes: ['read'] },
};

const address = `0x${'4f'.repeat(20)}`;

/** Path parameters by name; those of one operation alone are in `PARAMETER_EXAMPLES`. */
export const PATH_EXAMPLES: Readonly<Record<string, string>> = {
  idOrAddress: address,
  worldAddress: address,
  address: `0x${'5a'.repeat(20)}`,
  schemaName: 'horse',
  name: 'speed',
  eventName: 'race-result',
  event: 'race-result',
  version: '1',
  instanceId: 'HORSE_1',
  chain: 'base-sepolia',
  historyId: '0190f3c2-7c1e-7a10-8c00-000000000001',
  executionId: '0190f3c2-7c1e-7a10-8c00-000000000002',
  hash: 'd'.repeat(64),
  webhookId: '7f9c24e5-2f3b-4d0e-9a51-6b1c0d8e4f3a',
  timerId: '0190f3c2-7c1e-8a10-8c00-000000000005',
  id: '0aB1cD2eF3gH',
};

const ofHorses = { entitySchema: 'horse' };

/** Parameters by operation that show what they are for. */
const PARAMETER_EXAMPLES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'worlds.list': { owner: 'me' },
  'versions.delete': { version: '3' },
  'bindings.list': { event: 'race-result' },
  'bindings.remove': { event: 'race-result' },
  'instances.list': { ...ofHorses, where: 'instance.wins > 3', orderBy: 'wins desc' },
  'instances.aggregate': { ...ofHorses, sum: 'wins' },
  'instances.rank': { ...ofHorses, orderBy: 'wins desc' },
  'instances.get': ofHorses,
  'instances.update': { ...ofHorses, 'if-match': '"1"' },
  'instances.delete': ofHorses,
  'deployments.execute': { 'idempotency-key': 'race-1' },
  'deployments.replay': { 'idempotency-key': 'replay-5' },
  'deployments.stream': { 'last-event-id': '4' },
  'history.list': { instance: 'horse:HORSE_1', status: 'succeeded' },
  'history.verify': { from: 1, decisions: 'true' },
  'history.proof': { seq: 3, size: 5 },
  'history.consistency': { from: 3, to: 5 },
  'public.get': { event: 'race-result' },
  'public.instances': { ...ofHorses, where: 'instance.wins > 3', orderBy: 'wins desc' },
  'public.aggregate': { ...ofHorses, sum: 'wins' },
  'public.rank': { ...ofHorses, orderBy: 'wins desc' },
  'public.instance': ofHorses,
  'public.history': { status: 'succeeded' },
  'public.entry': { hashed: 'true' },
  'public.verify': { from: 1 },
  'public.proof': { seq: 3, size: 5 },
  'public.consistency': { from: 3, to: 5 },
  'public.stream': { 'last-event-id': '4' },
  'payments.list': { status: 'settled' },
  // USDC on Solana's main network.
  'payments.solana': {
    network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
    asset: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGkZwyTDt1v',
  },
  'timers.list': { event: 'race-result' },
  'pushes.list': { state: 'confirmed' },
  'schedules.run': { 'idempotency-key': 'run-1' },
  'occurrences.list': { status: 'fired' },
  'webhooks.rotateSecret': { graceSeconds: 3600 },
  'webhooks.deliveries': { state: 'failed' },
  'keys.rotate': { graceSeconds: 3600 },
};

/** Examples of an operation's parameters, by their names in the contract. */
export const parameterExamples = (operation: string, pathParameters: readonly string[]) => ({
  ...Object.fromEntries(pathParameters.map((name) => [name, PATH_EXAMPLES[name]])),
  ...PARAMETER_EXAMPLES[operation],
});
