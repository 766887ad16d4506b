/** One request of the walk-through; `{world}` and `{deployment}` stand for what earlier steps made. */
export interface Step {
  readonly says: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: unknown;
  /** Remembers the answer's address under this name. */
  readonly names?: 'world' | 'deployment';
}

const deployment = '/worlds/{world}/deployments/{deployment}';
const horse = (instanceId: string, state = {}): Step => ({
  says: `${instanceId} enters the stable`,
  method: 'POST',
  path: `${deployment}/entity-instances`,
  body: { entitySchema: 'horse', instanceId, state },
});
const execute = (says: string, event: string, input: object): Step => ({
  says,
  method: 'POST',
  path: `${deployment}/execute`,
  body: { event, input },
});

/** The racing world of the README. */
export const racingSteps: readonly Step[] = [
  {
    says: 'A world',
    method: 'POST',
    path: '/worlds',
    names: 'world',
    body: { name: 'Derby', domainTags: ['racing'] },
  },
  {
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
  },
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
      firstVersion: {
        inputSchema: { horse: 'string', hours: 'integer' },
        readEntities: [{ schema: 'horse', filter: ['horse'] }],
        stateChanges: { horse: 'partial' },
        mutationSettings: {
          mode: 'direct',
          template: {
            'horse:{{input.horse}}': { speed: '{{ entities.horse[input.horse].speed + 0.5 * input.hours }}' },
          },
        },
      },
    },
  },
  {
    says: 'A deployment with both events bound',
    method: 'POST',
    path: '/worlds/{world}/deployments',
    names: 'deployment',
    body: {
      name: 'Season 1',
      bindings: [
        { event: 'race_result', eventVersion: 1 },
        { event: 'training', eventVersion: 1 },
      ],
    },
  },
  horse('HORSE_1'),
  horse('HORSE_2', { speed: 11 }),
  execute('HORSE_1 trains four hours', 'training', { horse: 'HORSE_1', hours: 4 }),
  execute('HORSE_1 wins the first race', 'race_result', { raceId: 'R1', winner: 'HORSE_1' }),
  execute('HORSE_2 wins the second', 'race_result', { raceId: 'R2', winner: 'HORSE_2' }),
  { says: 'The history, verified', method: 'GET', path: `${deployment}/history/verify` },
];

export const tablePath = `${deployment}/entity-instances?entitySchema=horse`;
