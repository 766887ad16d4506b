import type { ExecutionAnswer, HistoryEntry } from '@orrery/contracts';

/** One request of the walk-through; `{world}` and `{deployment}` stand for what earlier steps made. */
export interface Step {
  readonly says: string;
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly body?: unknown;
  /** Remembers the answer's address under this name. */
  readonly names?: 'world' | 'deployment';
  /** The part of the answer that matters; all of it if left out. */
  readonly shown?: (data: never) => unknown;
  /** Codes of refusals that are shown, and after which the walk-through goes on. */
  readonly mayFail?: readonly string[];
}

const deployment = '/worlds/{world}/deployments/{deployment}';
export const horse = (instanceId: string, state = {}): Step => ({
  says: `${instanceId} enters the stable`,
  method: 'POST',
  path: `${deployment}/entity-instances`,
  body: { entitySchema: 'horse', instanceId, state },
});
export const execute = (says: string, event: string, input: object): Step => ({
  says,
  method: 'POST',
  path: `${deployment}/execute`,
  body: { event, input },
});

export const world = (name: string, promptSeed: string): Step => ({
  says: 'A world',
  method: 'POST',
  path: '/worlds',
  names: 'world',
  body: { name, domainTags: ['racing'], promptSeed },
});

export const horseSchema: Step = {
  says: 'What a horse is',
  method: 'POST',
  path: '/worlds/{world}/entity-schemas',
  body: {
    name: 'horse',
    attributes: [
      { name: 'wins', type: 'integer', defaultValue: 0, constraints: { min: 0 } },
      { name: 'speed', type: 'float', defaultValue: 10 },
      { name: 'stamina', type: 'integer', defaultValue: 100, constraints: { min: 0, max: 100 } },
    ],
  },
};

/** A deployment in which the first versions of events are bound. */
export const bindEvents = (says: string, ...events: string[]): Step => ({
  says,
  method: 'POST',
  path: '/worlds/{world}/deployments',
  names: 'deployment',
  body: { name: 'Season 1', bindings: events.map((event) => ({ event, eventVersion: 1 })) },
});

export const verifyHistory: Step = {
  says: 'The history, verified',
  method: 'GET',
  path: `${deployment}/history/verify`,
};

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

const pushTo = (chain: string): Step => ({
  says: `The results of races are pushed to ${chain}`,
  method: 'PUT',
  path: `${deployment}/event-bindings`,
  body: [{ event: 'race_result', targetChains: [chain] }],
});

/** The racing world of the README; with a chain, the results of races are pushed to it. */
export const racingSteps = (chain?: string): readonly Step[] => [
  world('Derby', 'A quiet country racecourse.'),
  horseSchema,
  {
    says: 'An event: a race result',
    method: 'POST',
    path: '/worlds/{world}/events',
    body: {
      name: 'race_result',
      firstVersion: {
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
      },
    },
  },
  {
    says: 'An event that reads the horse it changes: training',
    method: 'POST',
    path: '/worlds/{world}/events',
    body: {
      name: 'training',
      firstVersion: training,
    },
  },
  bindEvents('A deployment with both events bound', 'race_result', 'training'),
  ...(chain === undefined ? [] : [pushTo(chain)]),
  horse('HORSE_1'),
  horse('HORSE_2', { speed: 11 }),
  execute('HORSE_1 trains four hours', 'training', { horse: 'HORSE_1', hours: 4 }),
  execute('HORSE_1 wins the first race', 'race_result', { raceId: 'R1', winner: 'HORSE_1' }),
  execute('HORSE_2 wins the second', 'race_result', { raceId: 'R2', winner: 'HORSE_2' }),
  {
    says: 'The second version of training, which runs by itself every minute',
    method: 'POST',
    path: '/worlds/{world}/events/training/event-versions',
    body: {
      ...training,
      executionSettings: {
        visibility: 'cron',
        cron: { schedule: '* * * * *', input: { horse: 'HORSE_1', hours: 1 } },
      },
    },
  },
  {
    says: 'The deployment runs it from now on',
    method: 'PUT',
    path: `${deployment}/event-bindings`,
    body: [{ event: 'training', eventVersion: 2 }],
  },
  {
    says: 'Its schedule: GET …/schedules/training/occurrences shows what became of each due time',
    method: 'GET',
    path: `${deployment}/schedules`,
  },
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
  {
    says: 'An event that a model decides, and the guards that bound it',
    method: 'POST',
    path: '/worlds/{world}/events',
    body: {
      name: 'race',
      firstVersion: {
        inputSchema: { raceId: 'string', weather: 'string' },
        outputSchema: { headline: 'string' },
        readEntities: [{ schema: 'horse' }],
        stateChanges: { horse: 'partial' },
        behaviorPrompt:
          'All horses run one race. Decide by their speed, their stamina and the weather who wins: add 1 to the winner\'s "wins". A race costs each horse 5 to 20 stamina. The headline tells the race in one sentence.',
        mutationSettings: { mode: 'ai' },
        guards: { create: false, maxDelta: { wins: 1, speed: 1, stamina: 20 } },
      },
    },
  },
  bindEvents('A deployment with the event bound', 'race'),
  horse('HORSE_1'),
  horse('HORSE_2', { speed: 11 }),
  horse('HORSE_3', { speed: 12, stamina: 80 }),
  race(1, 'dry'),
  race(2, 'rain'),
  race(3, 'fog'),
  race(4, 'dry'),
  {
    says: 'What the last race recorded of the model',
    method: 'GET',
    path: '/worlds/{world}/deployments/{deployment}/history?limit=1',
    shown: ([{ llm }]: [HistoryEntry]) => ({ model: llm?.model, usage: llm?.usage, attempts: llm?.attempts }),
  },
  verifyHistory,
];
