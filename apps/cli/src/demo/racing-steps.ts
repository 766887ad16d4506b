import type { ExecutionAnswer, HistoryEntry } from '@orrery/contracts';

/**
 * One request of the walk-through. Its path is that of openapi.json below `/api`; `{worldAddress}` and `{address}`, of the
 * deployment, are what earlier steps made.
 */
export interface Step {
  readonly says: string;
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  /** The other parameters of the path. */
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Remembers the answer's address under this name. */
  readonly names?: 'worldAddress' | 'address';
  /** The part of the answer that matters; all of it if left out. */
  readonly shown?: (data: never) => unknown;
  /** Codes of refusals that are shown, and after which the walk-through goes on. */
  readonly mayFail?: readonly string[];
}

const deployment = '/worlds/{worldAddress}/deployments/{address}';
const get = (says: string, path: string): Step => ({ says, method: 'GET', path });
const post = (says: string, path: string, body: unknown): Step => ({ says, method: 'POST', path, body });
const put = (says: string, path: string, body: unknown): Step => ({ says, method: 'PUT', path, body });

const horse = (instanceId: string, state = {}): Step =>
  post(`${instanceId} enters the stable`, `${deployment}/entity-instances`, {
    entitySchema: 'horse',
    instanceId,
    state,
  });
const execute = (says: string, event: string, input: object): Step =>
  post(says, `${deployment}/execute`, { event, input });
const addEvent = (says: string, name: string, firstVersion: object): Step =>
  post(says, '/worlds/{worldAddress}/events', { name, firstVersion });

const world = (name: string, promptSeed: string): Step => ({
  ...post('A world', '/worlds', { name, domainTags: ['racing'], promptSeed }),
  names: 'worldAddress',
});

const horseSchema = post('What a horse is', '/worlds/{worldAddress}/entity-schemas', {
  name: 'horse',
  attributes: [
    { name: 'wins', type: 'integer', defaultValue: 0, constraints: { min: 0 } },
    { name: 'speed', type: 'float', defaultValue: 10 },
    { name: 'stamina', type: 'integer', defaultValue: 100, constraints: { min: 0, max: 100 } },
  ],
});

/** A deployment in which the first versions of events are bound. */
const bindEvents = (says: string, ...events: string[]): Step => ({
  ...post(says, '/worlds/{worldAddress}/deployments', {
    name: 'Season 1',
    bindings: events.map((event) => ({ event, eventVersion: 1 })),
  }),
  names: 'address',
});

const verifyHistory = get('The history, verified', `${deployment}/history/verify`);

const training = {
  inputSchema: { horse: 'string', hours: 'integer' },
  readEntities: [{ schema: 'horse', filter: ['horse'] }],
  stateChanges: { horse: 'partial' },
  mutationSettings: {
    mode: 'direct',
    template: {
      'horse:{{input.horse}}': { speed: '{{ entities.horse[input.horse].speed + 0.5 * input.hours }}' },
    },
  },
};

const pushTo = (chain: string): Step =>
  put(`The results of races are pushed to ${chain}`, `${deployment}/event-bindings`, [
    { event: 'race_result', targetChains: [chain] },
  ]);

/** The racing world of the README; with a chain, the results of races are pushed to it. */
export const racingSteps = (chain?: string): readonly Step[] => [
  world('Derby', 'A quiet country racecourse.'),
  horseSchema,
  addEvent('An event: a race result', 'race_result', {
    inputSchema: { raceId: 'string', winner: 'string' },
    stateChanges: { horse: 'partial' },
    mutationSettings: {
      mode: 'direct',
      template: {
        stateChanges: {
          'horse:{{input.winner}}': { wins: { $increment: 1 }, stamina: { $increment: -20 } },
        },
        result: { headline: '{{input.winner}} wins {{input.raceId}}' },
      },
    },
  }),
  addEvent('An event that reads the horse it changes: training', 'training', training),
  bindEvents('A deployment with both events bound', 'race_result', 'training'),
  ...(chain === undefined ? [] : [pushTo(chain)]),
  horse('HORSE_1'),
  horse('HORSE_2', { speed: 11 }),
  execute('HORSE_1 trains four hours', 'training', { horse: 'HORSE_1', hours: 4 }),
  execute('HORSE_1 wins the first race', 'race_result', { raceId: 'R1', winner: 'HORSE_1' }),
  execute('HORSE_2 wins the second', 'race_result', { raceId: 'R2', winner: 'HORSE_2' }),
  {
    ...post(
      'The second version of training, which runs by itself every minute',
      '/worlds/{worldAddress}/events/{eventName}/event-versions',
      {
        ...training,
        executionSettings: {
          visibility: 'cron',
          cron: { schedule: '* * * * *', input: { horse: 'HORSE_1', hours: 1 } },
        },
      },
    ),
    params: { eventName: 'training' },
  },
  put('The deployment runs it from now on', `${deployment}/event-bindings`, [
    { event: 'training', eventVersion: 2 },
  ]),
  get(
    'Its schedule: GET …/schedules/training/occurrences shows what became of each due time',
    `${deployment}/schedules`,
  ),
  verifyHistory,
];

export const tablePath = `${deployment}/entity-instances?entitySchema=horse`;

/** Each element has a `status`. */
export const pushesPath = `${deployment}/pushes`;

const race = (number: number, weather: string): Step => ({
  ...execute(`Race ${number}, ${weather}`, 'race', { raceId: `R${number}`, weather }),
  shown: ({ stateChanges, result }: ExecutionAnswer) => ({ result, stateChanges }),
  // A model may propose what is not allowed, or think for too long.
  mayFail: ['ai_output_invalid', 'deadline_exceeded'],
});

/** A season of races that a model decides: it reads all horses and proposes how the race changes them. */
export const aiRacingSteps: readonly Step[] = [
  world(
    'Derby, told by a model',
    'A quiet country racecourse. Its horses tire, and grow faster with each race.',
  ),
  horseSchema,
  addEvent('An event that a model decides, and the guards that bound it', 'race', {
    inputSchema: { raceId: 'string', weather: 'string' },
    outputSchema: { headline: 'string' },
    readEntities: [{ schema: 'horse' }],
    stateChanges: { horse: 'partial' },
    behaviorPrompt:
      'All horses run one race. Decide by their speed, their stamina and the weather who wins: add 1 to the winner\'s "wins". A race costs each horse 5 to 20 stamina. The headline tells the race in one sentence.',
    mutationSettings: { mode: 'ai' },
    guards: { create: false, maxDelta: { wins: 1, speed: 1, stamina: 20 } },
  }),
  bindEvents('A deployment with the event bound', 'race'),
  horse('HORSE_1'),
  horse('HORSE_2', { speed: 11 }),
  horse('HORSE_3', { speed: 12, stamina: 80 }),
  race(1, 'dry'),
  race(2, 'rain'),
  race(3, 'fog'),
  race(4, 'dry'),
  {
    ...get('What the last race recorded of the model', `${deployment}/history?limit=1`),
    shown: ([{ llm }]: [HistoryEntry]) => ({ model: llm?.model, usage: llm?.usage, attempts: llm?.attempts }),
  },
  verifyHistory,
];
