import { describe, expect, it } from 'vitest';
import { filledPath } from '../server/ask-server.js';
import { requestsOf } from './change-requests.js';
import {
  type EventDefinition,
  type StoredWorld,
  toEventDefinition,
  type WorldContent,
} from './definitions.js';
import { planChanges, showPlan } from './plan-changes.js';

const options = { prune: false, newVersions: false };
const horse = {
  name: 'horse',
  attributes: [
    { name: 'wins', type: 'integer' as const, defaultValue: 0 },
    { name: 'speed', type: 'float' as const },
  ],
};
const race: EventDefinition = {
  name: 'race',
  stateChanges: { horse: 'partial' },
  behaviorPrompt: 'All horses run.\nThe fastest wins.\n',
  mutationSettings: { mode: 'ai' },
};
const content: WorldContent = { world: { name: 'Derby' }, schemas: [horse], events: [race] };
const stored = (changes: Partial<StoredWorld> = {}, isLocked = false): StoredWorld => ({
  ...content,
  address: '0x1',
  latest: new Map([['race', { version: 2, isLocked }]]),
  tags: new Map(),
  ...changes,
});
const whatOf = (...given: Parameters<typeof planChanges>) =>
  planChanges(...given).changes.map(({ what, name }) => `${what} ${name}`);

describe('a plan', () => {
  it('creates all where there is nothing, and nothing where all is there', () => {
    expect(whatOf(content, undefined, options)).toEqual([
      'create world Derby',
      'create schema horse',
      'create event race',
    ]);
    expect(planChanges(content, stored(), options)).toEqual({ changes: [], left: [], keepsOldSchemas: [] });
  });

  it('takes the order of attributes for no difference', () => {
    const reversed = { ...horse, attributes: [...horse.attributes].reverse() };
    expect(whatOf(content, stored({ schemas: [reversed] }), options)).toEqual([]);
  });

  it('takes other spellings of a version for no difference', () => {
    const spelt = toEventDefinition(race, {
      stateChangeSchema: { horse: 'partial' },
      readEntities: [],
      mutationSettings: { behaviorPrompt: race.behaviorPrompt ?? null },
      guards: null,
    });
    expect(spelt).toEqual(race);
    const template = { 'horse:H1': { wins: 1 } };
    expect(
      toEventDefinition({ name: 'e' }, { mutationSettings: { template }, executionSettings: {} }),
    ).toEqual({
      name: 'e',
      mutationSettings: { mode: 'direct', template },
      executionSettings: { visibility: 'admin' },
    });
  });

  it('takes names in another form of Unicode for no difference', () => {
    const names = (form: 'NFC' | 'NFD') => ({
      readEntities: [{ schema: 'Fée'.normalize(form) }],
      readHistory: { last: 3, events: ['Fête'.normalize(form)] },
      stateChanges: { ['Fée'.normalize(form)]: 'partial' as const },
    });
    expect(toEventDefinition({ name: 'e' }, names('NFD'))).toEqual(
      toEventDefinition({ name: 'e' }, names('NFC')),
    );
  });

  it('deletes only what it may', () => {
    const more = stored({ schemas: [horse, { name: 'old' }], events: [race, { name: 'gone' }] });
    expect(planChanges(content, more, options)).toMatchObject({
      changes: [],
      left: ['event gone', 'schema old'],
    });
    expect(whatOf(content, more, { ...options, prune: true })).toEqual([
      'delete event gone',
      'delete schema old',
    ]);
  });

  it('changes a draft in place and gives a locked version a new one', () => {
    const slower = {
      ...content,
      events: [{ ...race, behaviorPrompt: 'All horses run.\nThe oldest wins.\n' }],
    };
    const titleOf = (...given: Parameters<typeof planChanges>) =>
      showPlan(planChanges(...given)).split('\n')[0];
    expect(titleOf(slower, stored(), options)).toBe(
      '~ event race: version 2, which is a draft, changes in place',
    );
    expect(titleOf(slower, stored({}, true), options)).toBe(
      '~ event race: a new version (version 2 is locked)',
    );
    expect(titleOf(slower, stored(), { ...options, newVersions: true })).toBe('~ event race: a new version');
    const described = { ...content, events: [{ ...race, description: 'A race' }] };
    expect(titleOf(described, stored({}, true), options)).toBe('~ event race');
  });

  it('shows the lines that differ', () => {
    const faster = {
      ...content,
      events: [{ ...race, behaviorPrompt: 'All horses run.\nThe oldest wins.\n' }],
    };
    expect(showPlan(planChanges(faster, stored(), options))).toBe(
      [
        '~ event race: version 2, which is a draft, changes in place',
        '     behaviorPrompt: |',
        '       All horses run.',
        '    -  The fastest wins.',
        '    +  The oldest wins.',
        '     mutationSettings:',
        '       mode: ai',
      ].join('\n'),
    );
  });

  it('says which locked versions keep an older schema', () => {
    const grown = { ...content, schemas: [{ ...horse, description: 'Four legs' }] };
    expect(planChanges(grown, stored({}, true), options).keepsOldSchemas).toEqual(['race']);
    expect(planChanges(grown, stored(), options).keepsOldSchemas).toEqual([]);
  });
});

describe('the requests of a change', () => {
  it('remove what the file no longer says', () => {
    const [change] = planChanges(
      { ...content, events: [{ name: 'race', executionSettings: { visibility: 'public' } }] },
      stored(),
      options,
    ).changes;
    expect(change && requestsOf(change)).toEqual([
      {
        method: 'PUT',
        path: '/events/{eventName}/event-versions/{version}',
        params: { eventName: 'race', version: '2' },
        body: {
          inputSchema: null,
          outputSchema: null,
          readEntities: null,
          readHistory: null,
          followUps: null,
          stateChanges: null,
          behaviorPrompt: null,
          mutationSettings: null,
          executionSettings: {
            visibility: 'public',
            ...{ priceUsd: null, payerMayCall: null, randomness: null, cron: null },
          },
          guards: null,
        },
      },
    ]);
  });

  it('keep an empty description of a new event', () => {
    const create = { what: 'create event', name: 'race', to: { name: 'race', description: '' } } as const;
    expect(requestsOf(create)[0]?.body).toEqual({ name: 'race', description: '', firstVersion: {} });
  });

  it('touch the attributes that differ alone', () => {
    const attributes = [
      { name: 'wins', type: 'integer' as const },
      { name: 'age', type: 'integer' as const },
    ];
    const [change] = planChanges(
      { ...content, schemas: [{ name: 'horse', attributes }] },
      stored(),
      options,
    ).changes;
    const requests = change && requestsOf(change).map((one) => [one.method, filledPath(one), one.body]);
    expect(requests).toEqual([
      ['DELETE', '/entity-schemas/horse/attributes/speed', undefined],
      [
        'PUT',
        '/entity-schemas/horse/attributes/wins',
        { name: 'wins', type: 'integer', constraints: null, defaultValue: null },
      ],
      ['POST', '/entity-schemas/horse/attributes', { name: 'age', type: 'integer' }],
    ]);
  });

  it('keep an index, set it and take it back', () => {
    const bodies = (before: boolean | undefined, after: boolean | undefined) => {
      const schema = (indexed: boolean | undefined) => {
        const attribute = { name: 'wins', type: 'integer' as const, ...(indexed && { indexed }) };
        return { name: 'horse', attributes: [attribute] };
      };
      const there = { ...stored(), schemas: [schema(before)] };
      const { changes } = planChanges({ ...content, schemas: [schema(after)] }, there, options);
      return changes.flatMap(requestsOf).map(({ body }) => (body as { indexed?: boolean }).indexed);
    };
    expect([bodies(undefined, true), bodies(true, true), bodies(true, undefined)]).toEqual([
      [true],
      [],
      [false],
    ]);
  });
});

it('makes room in a schema before it needs it: the server checks its bounds after each request', () => {
  const attribute = (name: string, indexed = false) => ({ name, type: 'integer' as const, indexed });
  const change = {
    what: 'change schema' as const,
    name: 'horse',
    from: { name: 'horse', attributes: [attribute('a'), attribute('b', true), attribute('gone', true)] },
    to: { name: 'horse', attributes: [attribute('a', true), attribute('new', true), attribute('b')] },
  };
  const requests = requestsOf(change);
  expect(
    requests.map((one) => `${one.method} ${filledPath(one).replace('/entity-schemas/horse', '')}`),
  ).toEqual(['DELETE /attributes/gone', 'PUT /attributes/b', 'PUT /attributes/a', 'POST /attributes']);
  expect(requests.map(({ inFile }) => inFile?.('/type'))).toEqual([
    undefined,
    '/attributes/2/type',
    '/attributes/0/type',
    '/attributes/1/type',
  ]);
});
