import type { Said } from '@orrery/contracts';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  bootCatalog,
  deploymentAddress,
  plantWorld,
  type RunningTestCatalog,
  refusalOf,
} from './running-catalog.js';

/** As other languages write placeholders. */
const DOLLAR = '$';

const direct = (template: object, parts: object = {}) => ({
  mutationSettings: { mode: 'direct', template },
  ...parts,
});
/** What a model reads is of no matter here; a version that reads nothing is warned of. */
const reading = (body: object): object =>
  'behaviorPrompt' in body ? { readEntities: [{ schema: 'horse' }], ...body } : body;
/** What an answer warns of. */
const told = ({ warnings = [] }: { warnings?: Said['warnings'] | undefined }): string[] =>
  warnings.map(({ pointer, message }) => `${pointer}: ${message}`);
const scheduled = (input: object | null, inputSchema: object) => ({
  behaviorPrompt: 'Race.',
  inputSchema,
  executionSettings: { visibility: 'cron', cron: { schedule: '* * * * *', ...(input && { input }) } },
});

describe('mistakes in a version', () => {
  let catalog: RunningTestCatalog;
  let planted: Awaited<ReturnType<typeof plantWorld>>;
  beforeAll(async () => {
    catalog = await bootCatalog();
    planted = await plantWorld(catalog);
    await catalog.call('entitySchemas.create', { params: planted.inWorld, body: { name: 'plot' } });
  });
  const create = (body: object) =>
    catalog.call('versions.create', {
      params: { ...planted.inWorld, eventName: 'race' },
      body: reading(body),
    });
  /** The answer's detail and its problems, as the caller sees them. */
  const refused = async (body: object) => {
    const { code, message, errors } = await refusalOf(create(body));
    expect(message).toContain(errors[0]?.message);
    return [code, ...errors.map(({ pointer, message }) => `${pointer}: ${message}`)];
  };

  const inTemplate = (rest: string) => `/mutationSettings/template/${rest}`;
  const refusals: [string, object, string, ...string[]][] = [
    [
      'a change of a schema that does not exist',
      direct({ 'hrose:{{input.id}}': { wins: 1 } }),
      'unknown_entity_schema',
      inTemplate('hrose:{{input.id}}: The world has no entity schema "hrose". Did you mean "horse"?'),
    ],
    [
      "a change of a schema outside the version's own map",
      direct({ 'plot:{{input.id}}': { owner: 'x' } }, { stateChanges: { horse: 'partial' } }),
      'invalid_template',
      inTemplate(
        'plot:{{input.id}}: The version\'s stateChanges does not name "plot". Add "plot": "partial" to stateChanges to change its instances.',
      ),
    ],
    [
      'an input that the inputSchema lacks',
      direct({ 'horse:{{input.winer}}': { wins: 1 } }, { inputSchema: { winner: 'string' } }),
      'invalid_template',
      inTemplate(
        'horse:{{input.winer}}: Line 1, column 9: The inputSchema has no "winer". Did you mean "winner"?',
      ),
    ],
    [
      '$increment by a text',
      direct({ 'horse:H1': { wins: { $increment: 'x' } } }),
      'invalid_template',
      inTemplate(
        'horse:H1/wins/$increment: The operator $increment takes a number, or one placeholder alone such as "{{ input.amount }}", not the text "x".',
      ),
    ],
    [
      'entities that are not read',
      direct({ 'horse:H1': { wins: '{{ entities.horse.H1.wins + 1 }}' } }),
      'invalid_template',
      inTemplate(
        'horse:H1/wins: Line 1, column 4: Nothing is read of "horse": readEntities does not name it. Add { "schema": "horse" } to readEntities.',
      ),
    ],
    [
      'a text in an attribute of whole numbers',
      direct({ 'horse:{{input.id}}': { wins: 'five' } }),
      'invalid_template',
      inTemplate(
        'horse:{{input.id}}/wins: The attribute "wins" must be a whole number; found the text "five".',
      ),
    ],
    [
      'values of a result that the outputSchema refuses',
      direct(
        { stateChanges: {}, result: { winner: 7, at: '{{ unix }}', laps: '{{ input.laps }}', note: 'x' } },
        { outputSchema: { winner: 'string', at: 'string', laps: 'integer' } },
      ),
      'invalid_template',
      ...[
        'result/winner: The outputSchema refuses every result of the template: The value must be of type string; found the number 7.',
        'result/at: The outputSchema refuses every result of the template: The value must be of type string; "{{ unix }}" gives the type integer.',
        'result/note: The outputSchema refuses every result of the template: The field "note" is not declared.',
      ].map(inTemplate),
    ],
    [
      'a template without the result that the outputSchema requires',
      direct({ 'horse:{{input.id}}': { wins: 1 } }, { outputSchema: { winner: 'string', note: 'string?' } }),
      'invalid_template',
      inTemplate(
        'result/winner: The outputSchema refuses every result of the template: The field "winner" is required.',
      ),
    ],
    [
      'a filter path with an empty part',
      { readEntities: [{ schema: 'horse', filter: ['a..b'] }] },
      'validation_failed',
      '/readEntities/0/filter/0: The path "a..b" has an empty part. Write names with one dot between them, as in "race.horse".',
    ],
    [
      'a filter path from outside the input',
      { inputSchema: { horse: 'string' }, readEntities: [{ schema: 'horse', filter: ['input.horse'] }] },
      'validation_failed',
      '/readEntities/0/filter/0: Filter paths start inside the input: write "horse".',
    ],
    [
      'a filter path from outside the input, without a contract',
      { readEntities: [{ schema: 'horse', filter: ['input.horse'] }] },
      'validation_failed',
      '/readEntities/0/filter/0: Filter paths start inside the input: write "horse".',
    ],
    ...(
      [
        ['{{ input.horse }}', 'write "horse".'],
        ['$.race.horse', 'write "race.horse".'],
        ['horses[0]', 'write "horses.0".'],
        ['input', 'write the name of one of its members.'],
      ] as const
    ).map(([path, advice]): [string, object, string, string] => [
      `a filter path that selects nothing, ${path}`,
      { behaviorPrompt: 'Race.', readEntities: [{ schema: 'horse', filter: [path] }] },
      'validation_failed',
      `/readEntities/0/filter/0: The path "${path}" selects nothing. Filter paths are names with dots between them and start inside the input: ${advice}`,
    ]),
    ...(
      [
        ['done', 'the text "done"'],
        ['lap {{ input.n }}', 'the text "lap {{ input.n }}"'],
        [7, 'the number 7'],
        [[], 'an empty list'],
      ] as const
    ).map(([result, shown]): [string, object, string, string] => [
      `a result that is no object, ${JSON.stringify(result)}`,
      direct({ stateChanges: {}, result }),
      'invalid_template',
      inTemplate(`result: The result must be an object, not ${shown}: write { "value": … } around it.`),
    ]),
    [
      'a filter path that is misspelt',
      {
        inputSchema: { race: { horse: 'string' } },
        readEntities: [{ schema: 'horse', filter: ['race.hores'] }],
      },
      'validation_failed',
      '/readEntities/0/filter/0: The inputSchema has no "race.hores". Did you mean "horse"?',
    ],
    [
      'braces with a dollar sign in a change key',
      direct({ [`plot:${DOLLAR}{input.id}`]: { owner: 'x' } }),
      'invalid_template',
      inTemplate(
        `plot:${DOLLAR}{input.id}: The braces in "plot:${DOLLAR}{input.id}" are no placeholder. Write placeholders as {{ … }}, as in "plot:{{input.id}}".`,
      ),
    ],
    [
      'single braces in a change key',
      direct({ 'plot:{input.id}': { owner: 'x' } }),
      'invalid_template',
      inTemplate(
        'plot:{input.id}: The braces in "plot:{input.id}" are no placeholder. Write placeholders as {{ … }}, as in "plot:{{input.id}}".',
      ),
    ],
    [
      'a question mark behind a name',
      { inputSchema: { 'laps?': 'integer' } },
      'validation_failed',
      '/inputSchema/laps?: The "?" of an optional field stands behind its type: "laps": "integer?".',
    ],
    [
      'a bare object as a contract',
      { outputSchema: { type: 'object' } },
      'validation_failed',
      '/outputSchema: This is a short map with one field that is called "type". For an object without fields write {}; ' +
        'for a JSON Schema add "properties": { "type": "object", "properties": { … } }; for any object leave the contract out.',
    ],
    [
      'a cron input of the wrong type',
      scheduled({ horse: '{{counter}}' }, { horse: 'string' }),
      'validation_failed',
      '/executionSettings/cron/input/horse: The inputSchema refuses every input of the schedule: The value must be of type string; "{{counter}}" gives the type integer.',
    ],
    [
      'a cron input that leaves out a field',
      scheduled({ horse: 'H1' }, { horse: 'string', hours: 'integer' }),
      'validation_failed',
      '/executionSettings/cron/input/hours: The inputSchema refuses every input of the schedule: The field "hours" is required.',
    ],
    [
      'a schedule without the input that its version requires',
      scheduled(null, { horse: 'string' }),
      'validation_failed',
      '/executionSettings/cron/input/horse: The inputSchema refuses every input of the schedule: The field "horse" is required.',
    ],
    [
      'an empty placeholder',
      direct({ 'horse:H1': { wins: '{{}}' } }),
      'invalid_template',
      inTemplate(
        'horse:H1/wins: Line 1, column 3: The placeholder is empty: write an expression, as in {{ input.id }}. The placeholder is {{}}',
      ),
    ],
    [
      'a name that is a word of the language',
      direct({ 'horse:H1': { wins: '{{input.in}}' } }),
      'invalid_template',
      inTemplate(
        'horse:H1/wins: Line 1, column 9: "in" cannot follow a dot, since it is a word of the language or no identifier: write input["in"]. The placeholder is {{input.in}}',
      ),
    ],
    [
      'a misspelt schema',
      { readEntities: [{ schema: 'hrose' }] },
      'unknown_entity_schema',
      '/readEntities/0/schema: The world has no entity schema "hrose". Did you mean "horse"?',
    ],
    [
      'a misspelt property',
      { readEntity: [] },
      'validation_failed',
      '/readEntity: The property "readEntity" is not known. Did you mean "readEntities"?',
    ],
  ];

  it.each(refusals)('refuses %s', async (_what, body, ...answer) => {
    expect(await refused(body)).toEqual(answer);
  });

  /** The definitions of the world as `worlds.check` takes them, with the body as an event's. */
  const definitions = ({
    event = { behaviorPrompt: 'Race.', readEntities: [], stateChanges: {} },
  }: {
    event?: object;
  }) => ({
    entitySchemas: [
      {
        name: 'horse',
        attributes: [
          { name: 'wins', type: 'integer' },
          { name: 'speed', type: 'float' },
        ],
      },
      { name: 'plot' },
    ],
    events: [
      { name: 'fine', firstVersion: { behaviorPrompt: 'Race.', stateChanges: {} } },
      { name: 'checked', firstVersion: reading(event) },
    ],
  });
  const check = async (body: object) => (await catalog.call('worlds.check', { body })).data;
  const PLACE = '/events/1/firstVersion';

  it.each(refusals)('finds %s without saving it', async (_what, event, _code, ...problems) => {
    const sent = definitions({ event });
    const found = await check(sent).then(
      (data) => data.problems,
      // What has no form of a definition is refused as a whole.
      async (error) => (await refusalOf(Promise.reject(error))).errors,
    );
    expect(found.map(({ pointer, message }) => `${pointer}: ${message}`)).toEqual(
      problems.map((problem) => `${PLACE}${problem}`),
    );
  });

  it('finds what is wrong with schemas, and names that appear twice', async () => {
    const { events } = definitions({});
    const wrong = { name: 'plot', attributes: [{ name: 'size', type: 'integer', defaultValue: 'x' }] };
    const { problems, warnings } = await check({
      entitySchemas: [{ name: 'plot' }, wrong],
      events: [...events, { name: 'fine', firstVersion: { behaviorPrompt: 'x'.repeat(40_000) } }],
    });
    expect(problems.map(({ pointer }) => pointer)).toEqual([
      '/entitySchemas/1/name',
      '/events/2/name',
      '/entitySchemas/1/attributes/0/defaultValue',
      '/events/2/firstVersion/behaviorPrompt',
    ]);
    expect(warnings).toEqual([]);
    expect(await check({})).toEqual({ problems: [], warnings: [] });
  });

  it('points into firstVersion, and saves nothing', async () => {
    const body = { name: 'bad', firstVersion: direct({ 'hrose:H1': {} }) };
    const refusal = await refusalOf(catalog.call('events.create', { params: planted.inWorld, body }));
    expect(refusal.errors[0]?.pointer).toBe('/firstVersion/mutationSettings/template/hrose:H1');
    const params = { ...planted.inWorld, eventName: 'bad' };
    expect((await refusalOf(catalog.call('events.get', { params }))).code).toBe('event_not_found');
  });

  /** Mistakes of every kind, none of which hides another. */
  const manyMistakes = direct(
    { 'foo:{{input.q}}': { gold: '{{ Math.max(input.m, 3) }}' }, 'horse:H1': { wins: 'x', note: 'input.n' } },
    { inputSchema: { n: 'int' }, guards: { deny: ['$x'] } },
  );
  const allPlaces = [
    '/inputSchema/n',
    '/guards/deny/0',
    inTemplate('foo:{{input.q}}/gold'),
    inTemplate('foo:{{input.q}}'),
    inTemplate('horse:H1/wins'),
  ].map((pointer) => (pointer.startsWith('/') ? pointer : `/${pointer}`));

  it('tells all problems at once, and beside them the warnings', async () => {
    const { code, errors } = await refusalOf(create(manyMistakes));
    expect(code).toBe('validation_failed');
    expect(errors.map(({ pointer }) => pointer)).toEqual(allPlaces);
    const found = await check(definitions({ event: manyMistakes }));
    expect(found.problems.map(({ pointer }) => pointer)).toEqual(
      allPlaces.map((place) => `${PLACE}${place}`),
    );
    expect(found.warnings.map(({ pointer }) => pointer)).toEqual([`${PLACE}${inTemplate('horse:H1/note')}`]);
  });

  it('tells what a template reads beside what it cannot say', async () => {
    const body = direct(
      { 'horse:H1': { wins: '{{ Math.max(input.m, 3) }}' } },
      { inputSchema: { n: 'integer' } },
    );
    const { errors } = await refusalOf(create(body));
    expect(errors.map(({ code }) => code)).toEqual(['unknown_function', 'path_not_in_input']);
  });

  const warnings: [string, object, string][] = [
    [
      'an event that is to be remembered, and is not there',
      { behaviorPrompt: 'Race.', readHistory: { last: 5, events: ['audience'] } },
      '/readHistory/events/0: The world has no event "audience". Nothing of it is remembered.',
    ],
    [
      'an event that is to follow, and is not there',
      direct({ 'horse:H1': { wins: 1 } }, { followUps: [{ event: 'audience', after: 'PT5M' }] }),
      '/followUps/0/event: The world has no event "audience". Executions that follow fail unless it is bound.',
    ],
    [
      'a path as the name of an attribute',
      direct({ 'horse:H1': { 'stats.speed': 1 } }),
      `${inTemplate('horse:H1/stats.speed')}: "stats.speed" is no path: a value of this very name is stored. To change "speed" inside "stats" write "stats": { "$merge": { "speed": … } }.`,
    ],
    [
      'a model that is shown nothing',
      { behaviorPrompt: 'Race.', readEntities: [], stateChanges: { horse: 'partial' } },
      '/readEntities: The model is shown no instances, so it can create new ones and change none. To let it change some, set readEntities to [{"schema":"horse"}], or whichever schemas it needs; where it has to change nothing, set stateChanges to {}.',
    ],
    [
      'a version that has nothing to run',
      {},
      '/mutationSettings: The version has neither a template nor a behaviorPrompt, so each execution is refused with mutation_missing.',
    ],
    [
      'a placeholder in a prompt',
      { behaviorPrompt: 'Greet {{input.who}}.', inputSchema: { who: 'string' } },
      '/behaviorPrompt: A model gets the behaviorPrompt as it is written: "{{input.who}}" is no placeholder there. It is shown the input beside it; call the fields by their names.',
    ],
    [
      'a template that no mode runs',
      { behaviorPrompt: 'Race.', mutationSettings: { mode: 'ai', template: { 'horse:H1': { wins: 1 } } } },
      '/mutationSettings/template: The template has no effect in mode "ai". Set the mode "direct", or remove the template with null.',
    ],
    [
      'a misspelt attribute in a change',
      direct({ 'horse:{{input.id}}': { winz: 1, lastFan: 'x' } }),
      '/mutationSettings/template/horse:{{input.id}}/winz: The entity schema "horse" has no attribute "winz". Did you mean "wins"?',
    ],
    [
      'a misspelt attribute that is read',
      direct(
        { 'horse:{{input.id}}': { wins: '{{ entities.horse[input.id].winz }}' } },
        { readEntities: [{ schema: 'horse' }] },
      ),
      '/mutationSettings/template/horse:{{input.id}}/wins: The entity schema "horse" has no attribute "winz". Did you mean "wins"?',
    ],
    [
      'a key that looks like a reference',
      direct({ 'plot:input.id': { owner: 'x' } }),
      '/mutationSettings/template/plot:input.id: "plot:input.id" names an instance of this very name. For a value of the input write {{ … }}, as in "plot:{{input.id}}".',
    ],
    [
      'a value that looks like a reference',
      direct({ 'plot:{{input.id}}': { owner: `${DOLLAR}{input.owner}` } }),
      `/mutationSettings/template/plot:{{input.id}}/owner: "${DOLLAR}{input.owner}" is stored as this very text. For the value that it names write {{ … }}: "{{ input.owner }}".`,
    ],
    [
      'a key without a schema',
      direct({ 'plot{{input.id}}': { owner: 'x' } }),
      '/mutationSettings/template/plot{{input.id}}: "plot{{input.id}}" names no schema: a key is "schema:instanceId", as in "plot:{{input.id}}".',
    ],
    [
      'an expression without braces',
      direct({ 'plot:{{input.id}}': { honey: 'entities.plot.honey + 1' } }),
      '/mutationSettings/template/plot:{{input.id}}/honey: "entities.plot.honey + 1" is stored as this very text. For the value that it names write {{ … }}: "{{ entities.plot.honey + 1 }}".',
    ],
    [
      'a reference without braces in a result',
      direct({ stateChanges: {}, result: { paid: 'input.amount' } }),
      '/mutationSettings/template/result/paid: "input.amount" is stored as this very text. For the value that it names write {{ … }}: "{{ input.amount }}".',
    ],
    [
      'a reference without braces in the input of a schedule',
      scheduled({ day: 'cronState.counter' }, { day: 'string' }),
      '/executionSettings/cron/input/day: "cronState.counter" is stored as this very text. For the value that it names write {{ … }}: "{{ cronState.counter }}".',
    ],
    [
      'an AI version that changes a schema without attributes',
      { behaviorPrompt: 'Farm.', stateChanges: { plot: 'partial' } },
      '/stateChanges/plot: The entity schema "plot" has no attributes, so a model is not told what it may set. Add attributes to it.',
    ],
    [
      "a type in JSON Schema's spelling inside a short map",
      { behaviorPrompt: 'Race.', inputSchema: { laps: { type: 'integer' } } },
      '/inputSchema/laps: This is a nested map with one field that is called "type". For a field of this type write "laps": "integer".',
    ],
    [
      'a schedule of an event that no schedule runs',
      {
        behaviorPrompt: 'Race.',
        executionSettings: { visibility: 'public', cron: { schedule: '0 * * * *' } },
      },
      '/executionSettings/cron: The schedule has no effect with the visibility "public". Set the visibility "cron".',
    ],
    [
      'a price that nobody is asked to pay',
      { behaviorPrompt: 'Race.', executionSettings: { visibility: 'admin', priceUsd: 1 } },
      '/executionSettings/priceUsd: The price has no effect with the visibility "admin". Set the visibility "public".',
    ],
    [
      'a misspelt attribute in a condition',
      { behaviorPrompt: 'Race.', readEntities: [{ schema: 'horse', where: 'instance.sped > 3' }] },
      '/readEntities/0/where: The entity schema "horse" has no attribute "sped". Did you mean "speed"?',
    ],
    [
      'an order by an attribute that is not there',
      { behaviorPrompt: 'Race.', readEntities: [{ schema: 'horse', orderBy: 'won desc, speed', limit: 3 }] },
      '/readEntities/0/orderBy: The entity schema "horse" has no attribute "won".',
    ],
    [
      'a guard on a misspelt attribute',
      { behaviorPrompt: 'Race.', readEntities: [{ schema: 'horse' }], guards: { deny: ['sped'] } },
      '/guards/deny/0: No entity schema of the version has an attribute "sped". Did you mean "speed"?',
    ],
  ];

  it.each(warnings)('warns of %s without saving it', async (_what, event, message) => {
    const found = await check(definitions({ event }));
    expect(found.problems).toEqual([]);
    expect(found.warnings.map((one) => `${one.pointer}: ${one.message}`)).toEqual([`${PLACE}${message}`]);
  });

  it.each(warnings)('saves and warns of %s', async (_what, body, message) => {
    const created = await create(body);
    expect(told(created)).toEqual([message]);
    const params = { ...planted.inWorld, eventName: 'race', version: String(created.data.version) };
    expect(told(await catalog.call('versions.update', { params, body: reading(body) }))).toEqual([message]);
  });

  it('warns of the first version of an event, again for a repeated key', async () => {
    const firstVersion = direct({ 'horse:H1': { winz: 1 } });
    const sent = {
      params: planted.inWorld,
      headers: { 'idempotency-key': 'warned' },
      body: { name: 'warned', firstVersion },
    };
    const first = await catalog.call('events.create', sent);
    expect(told(first).join()).toContain('/firstVersion/mutationSettings/template/horse:H1/winz: ');
    expect(await catalog.call('events.create', sent)).toEqual(first);
  });

  it('warns of a price that a bound draft gains, with the deployments that bind it', async () => {
    const free = direct({ 'horse:H1': { wins: 1 } }, { executionSettings: { visibility: 'public' } });
    const { version } = (await create(free)).data;
    const params = { ...planted.inWorld, eventName: 'race', version: String(version) };
    const costs = (priceUsd: number) =>
      catalog.call('versions.update', { params, body: { executionSettings: { priceUsd } } });
    expect(await costs(0.5)).not.toHaveProperty('warnings');
    const deployment = deploymentAddress();
    const worldId = planted.world.id;
    await catalog.ask('claims.versions', { worldId, deployment, versions: [{ event: 'race', version }] });
    expect(await costs(0.25)).not.toHaveProperty('warnings');
    expect(told(await costs(0.75))).toEqual([
      `/executionSettings/priceUsd: Deployments bind this version: ${deployment}. An execution costs a wallet ` +
        '0.75 USD there from now on; where the deployment has no payToAddress, or one on chains where this service takes ' +
        'no payments, no wallet can execute the event.',
    ]);
    expect(await costs(0.75)).not.toHaveProperty('warnings');
  });

  it('says nothing where nothing is wrong', async () => {
    expect(await create(direct({ 'horse:{{input.id}}': { wins: 1 } }))).not.toHaveProperty('warnings');
    const fine = scheduled(
      { horse: 'H{{counter}}', hours: '{{ counter }}' },
      { horse: 'string', hours: 'integer' },
    );
    expect(await create(fine)).not.toHaveProperty('warnings');
  });
});

describe('names that are not there', () => {
  it('are told with the name that may be meant', async () => {
    const catalog = await bootCatalog();
    const { inWorld, world } = await plantWorld(catalog);
    const told = async (promise: Promise<unknown>) => (await refusalOf(promise)).message;
    const params = { ...inWorld, schemaName: 'horse', eventName: 'race', version: '9', name: 'winz' };
    expect(
      await told(catalog.call('entitySchemas.get', { params: { ...inWorld, schemaName: 'horses' } })),
    ).toBe('The world has no entity schema "horses". Did you mean "horse"?');
    expect(
      await told(
        catalog.call('attributes.get', { params: { ...inWorld, schemaName: 'horse', name: 'winz' } }),
      ),
    ).toBe('The entity schema "horse" has no attribute "winz". Did you mean "wins"?');
    expect(await told(catalog.call('events.get', { params: { ...inWorld, eventName: 'rase' } }))).toBe(
      'The world has no event "rase". Did you mean "race"?',
    );
    const { eventName, version } = params;
    expect(await told(catalog.call('versions.get', { params: { ...inWorld, eventName, version } }))).toBe(
      'The event has no version 9; it has 1.',
    );
    const claim = { worldId: world.id, deployment: deploymentAddress() };
    const versions = [
      { event: 'rcae', version: 1 },
      { event: 'race', version: 2 },
    ];
    expect(await told(catalog.ask('claims.versions', { ...claim, versions: versions.slice(0, 1) }))).toBe(
      'The world has no event "rcae". Did you mean "race"?',
    );
    expect(await told(catalog.ask('claims.versions', { ...claim, versions: versions.slice(1) }))).toBe(
      'The event "race" has no version 2; it has 1.',
    );
    expect(await told(catalog.ask('claims.schemas', { ...claim, schemas: ['hrose'] }))).toBe(
      'The world has no entity schema "hrose". Did you mean "horse"?',
    );
  });
});

describe('what is in use', () => {
  it('is told with its users, ten at most', async () => {
    const catalog = await bootCatalog();
    const { inWorld, world } = await plantWorld(catalog);
    const horse = { ...inWorld, schemaName: 'horse' };
    const race = { ...inWorld, eventName: 'race' };
    const byVersions = await refusalOf(catalog.call('entitySchemas.delete', { params: horse }));
    expect(byVersions).toMatchObject({
      code: 'entity_schema_in_use',
      message:
        'The schema cannot be deleted while event versions use it: version 1 of "race". ' +
        'Change or delete them first; a locked version keeps its schemas for ever.',
      facts: { usedBy: ['version 1 of "race"'] },
    });

    const deployments = Array.from({ length: 12 }, deploymentAddress).sort();
    for (const deployment of deployments)
      await catalog.ask('claims.versions', {
        worldId: world.id,
        deployment,
        versions: [{ event: 'race', version: 1 }],
      });
    const named = deployments.slice(0, 10);
    const inUse = [
      ['events.delete', { params: race }, 'The event cannot be deleted while deployments bind it'],
      [
        'events.update',
        { params: race, body: { name: 'run' } },
        'The event cannot be renamed while deployments bind it',
      ],
      ['versions.delete', { params: { ...race, version: '1' } }, 'Deployments bind the version'],
      ['worlds.delete', { params: { idOrAddress: world.address } }, 'The world has deployments'],
    ] as const;
    for (const [name, sent, what] of inUse) {
      const { message, facts } = await refusalOf(catalog.call(name, sent));
      expect(message).toContain(`${what}: ${named.join(', ')} and others. `);
      expect(facts).toEqual({ usedBy: named });
    }

    await catalog.call('entitySchemas.create', { params: inWorld, body: { name: 'pony' } });
    const [deployment = ''] = deployments;
    await catalog.ask('claims.schemas', { worldId: world.id, deployment, schemas: ['pony'] });
    const params = { ...inWorld, schemaName: 'pony' };
    expect((await refusalOf(catalog.call('entitySchemas.delete', { params }))).message).toBe(
      `The schema cannot be deleted while deployments have instances of it: ${deployment}. Delete the instances first.`,
    );
  });
});
