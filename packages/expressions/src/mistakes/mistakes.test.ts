import type { FieldProblem, JsonObject } from '@orrery/contracts';
import { cpuMs } from '@orrery/contracts/test-support';
import { describe, expect, it } from 'vitest';
import { compileContract } from '../schemas/compile-contract.js';
import { compileTemplate } from '../templates/compile-template.js';
import { CRON_NAME_KINDS, DIRECT_NAME_KINDS } from '../templates/template-names.js';
import {
  findBracesInKeys,
  findKeysWithoutSchema,
  findLiteralReferences,
  findLiteralValues,
  findMisspeltAttributes,
  findWrongOperands,
} from './find-change-mistakes.js';
import { findCertainRefusals, findContractMistakes, findNestedTypes } from './find-contract-mistakes.js';
import { findUndeclaredInputs, findUnreadEntities, templateReferences } from './template-references.js';

/** As other languages write placeholders. */
const DOLLAR = '$';

const told = (problems: readonly FieldProblem[]): string[] =>
  problems.map(({ pointer, message }) => `${pointer}: ${message}`);

function contractOf(source: JsonObject) {
  const compiled = compileContract(source);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  return compiled.contract;
}

describe('what a template reads', () => {
  const readIn = (expression: string): string[] =>
    templateReferences({ a: `{{ ${expression} }}` }).map(({ root, steps }) =>
      [root, ...steps.map((step) => step ?? '*')].join('.'),
    );

  it.each<[string, string[]]>([
    ['input.a.b + 1', ['input.a.b']],
    ['entities.horse[input.id].wins', ['entities.horse.*.wins', 'input.id']],
    ['entities["horse"].H1', ['entities.horse.H1']],
    ['has(input.a) ? input.a : 0', ['input.a', 'input.a', 'input.a']],
    ['input.list.map(x, x.y + input.z)', ['input.list', 'input.z']],
    ['input.list.exists(input, input.y)', ['input.list']],
    ['cel.bind(h, entities.horse.H1, h.wins + input.n)', ['entities.horse.H1', 'input.n']],
    ['{"a": [input.a]}[input.key]', ['input.a', 'input.key']],
    ['size(input.names) > 1 && input.text.contains("a")', ['input.names', 'input.text']],
  ])('%s reads %j', (expression, reads) => {
    const found = readIn(expression);
    expect(new Set(found)).toEqual(new Set(reads));
  });

  it('is placed in texts and in keys', () => {
    const template = { 'horse:{{input.a}}': { note: ['first\n{{ input.b }}'] } };
    expect(templateReferences(template)).toMatchObject([
      { pointer: '/horse:{{input.a}}', offset: 8, steps: ['a'] },
      { pointer: '/horse:{{input.a}}/note/0', offset: 9, steps: ['b'] },
    ]);
  });
});

describe('inputs that the inputSchema lacks', () => {
  const contract = contractOf({
    winner: 'string',
    car: { speed: 'float' },
    'horse-id': 'string',
    tags: 'string[]',
    free: 'json',
  });
  const undeclared = (text: string) => told(findUndeclaredInputs(templateReferences({ a: text }), contract));

  it.each([
    ['{{ input.winer }}', ['/a: Line 1, column 4: The inputSchema has no "winer". Did you mean "winner"?']],
    [
      '{{input.car.sped}}',
      ['/a: Line 1, column 3: The inputSchema has no "car.sped". Did you mean "speed"?'],
    ],
    [
      '{{ input.tags.length }} {{ input.winner.size }} {{ input.length }} {{ input.car.length }}',
      [
        '/a: Line 1, column 4: The inputSchema has no "tags.length". Write "size(input.tags)".',
        '/a: Line 1, column 28: The inputSchema has no "winner.size". Write "size(input.winner)".',
        '/a: Line 1, column 52: The inputSchema has no "length".',
        '/a: Line 1, column 71: The inputSchema has no "car.length".',
      ],
    ],
    [
      '{{ has(input.bonus) ? input.bonus : 0 }}',
      [
        '/a: Line 1, column 8: The inputSchema has no "bonus".',
        '/a: Line 1, column 23: The inputSchema has no "bonus".',
      ],
    ],
    ['{{ input["horse-id"] }} {{ input.free.any.thing }} {{ input[input.winner] }}', []],
    ['{{ input }} {{ timestamp }}', []],
  ])('%s', (text, problems) => {
    expect(undeclared(text)).toEqual(problems);
  });
});

describe('entities that are not read', () => {
  it.each<[string, string[]]>([
    ['{{ entities.horse.H1 }} {{ entities[input.s] }} {{ entities }}', []],
    [
      '{{ entities.hrose.H1 }}',
      [
        '/a: Line 1, column 12: Nothing is read of "hrose": readEntities does not name it. Did you mean "horse"?',
      ],
    ],
    [
      '{{ entities.fence.F1 }}',
      [
        '/a: Line 1, column 12: Nothing is read of "fence": readEntities does not name it. Add { "schema": "fence" } to readEntities.',
      ],
    ],
  ])('%s', (text, problems) => {
    const found = findUnreadEntities(templateReferences({ a: text }), ['horse']);
    expect(told(found).map((one) => one.replace(/column \d+/, ''))).toEqual(
      problems.map((one) => one.replace(/column \d+/, '')),
    );
  });
});

it('finds attributes that differ by few letters from what their schema names', () => {
  const template = {
    'horse:{{ input.id }}': {
      winz: 1,
      lastFan: 'x',
      $set: 1,
      stamina: '{{ entities.horse[input.id].stamna }}',
    },
    'free:{{ input.id }}': { winz: 1 },
  };
  const names = new Map([
    ['horse', ['wins', 'stamina']],
    ['free', []],
  ]);
  expect(told(findMisspeltAttributes(template, templateReferences(template), names))).toEqual([
    '/horse:{{ input.id }}/winz: The entity schema "horse" has no attribute "winz". Did you mean "wins"?',
    '/horse:{{ input.id }}/stamina: The entity schema "horse" has no attribute "stamna". Did you mean "stamina"?',
  ]);
});

describe('operands', () => {
  it.each([
    [
      { $increment: 'x' },
      '$increment takes a number, or one placeholder alone such as "{{ input.amount }}", not the text "x".',
    ],
    [{ $increment: 'by {{ input.n }}' }, '$increment takes a number'],
    [{ $increment: [1] }, 'not a list of 1'],
    [{ $increment: false }, 'not false'],
    [{ $merge: 'x' }, '$merge takes an object'],
  ])('refuses %j', (operator, message) => {
    const [problem] = findWrongOperands({ 'horse:H1': { wins: operator } });
    expect(problem).toMatchObject({ code: 'wrong_operand', message: expect.stringContaining(message) });
    expect(problem?.pointer).toMatch(/^\/horse:H1\/wins\/\$/);
  });

  it.each([
    { $increment: 1 },
    { $increment: null },
    { $increment: true },
    { $increment: '{{ input.n }}' },
    { $merge: {} },
    { $merge: '{{input.parts}}' },
    { $append: 'x' },
    { $set: 'x' },
  ])('takes %j', (operator) => {
    expect(findWrongOperands({ stateChanges: { 'horse:H1': { wins: operator } } })).toEqual([]);
  });
});

describe('braces that are no placeholder', () => {
  it.each([
    [`plot:${DOLLAR}{input.id}`, 'as in "plot:{{input.id}}"'],
    ['plot:{input.id}', 'as in "plot:{{input.id}}"'],
    ['{input.schema}:x', 'as in "{{input.schema}}:x"'],
    [`plot:{{input.a}}-${DOLLAR}{input.b}`, 'Write placeholders as {{ … }}.'],
    ['plot:a}', 'Write placeholders as {{ … }}.'],
  ])('refuses the key %s', (key, advice) => {
    expect(findBracesInKeys({ [key]: {} })).toEqual([
      expect.objectContaining({
        pointer: `/${key}`,
        code: 'invalid_change_key',
        message: expect.stringContaining(advice),
      }),
    ]);
  });

  it.each(['plot:{{input.id}}', 'plot:{{ {"a": "b"}["a"] }}', 'plot:{{ "{x}" }}', 'plot:a'])(
    'takes the key %s',
    (key) => {
      expect(findBracesInKeys({ [key]: {} })).toEqual([]);
    },
  );
});

describe('change keys without a colon', () => {
  it.each([
    ['hive{{input.id}}', ', as in "hive:{{input.id}}"'],
    ['{{input.id}}hive', ''],
  ])('warns of %s', (key, advice) => {
    const message = `"${key}" names no schema: a key is "schema:instanceId"${advice}.`;
    expect(findKeysWithoutSchema({ [key]: {} })).toEqual([
      expect.objectContaining({ pointer: `/${key}`, code: 'no_schema', message }),
    ]);
  });

  it.each(['hive:{{input.id}}', '{{input.key}}', '{{input.kind}}:{{input.id}}', 'hive:H1'])(
    'takes %s',
    (key) => {
      expect(findKeysWithoutSchema({ [key]: {} })).toEqual([]);
    },
  );
});

describe('references that are written as text', () => {
  it.each([
    ['plot:input.id', 'as in "plot:{{input.id}}"'],
    ['plot:a-entities.horse', 'as in "plot:a-{{entities.horse}}"'],
  ])('warns of the key %s', (key, advice) => {
    expect(findLiteralReferences({ [key]: {} })).toEqual([
      expect.objectContaining({
        pointer: `/${key}`,
        code: 'literal_reference',
        message: expect.stringContaining(advice),
      }),
    ]);
  });

  it.each([
    [`${DOLLAR}{input.id}`, 'input.id'],
    ['{input.id}', 'input.id'],
    ['input.id', 'input.id'],
    ['entities.horse["H1"].wins', 'entities.horse["H1"].wins'],
    ['entities.hive.honey + 1', 'entities.hive.honey + 1'],
    ['0.5 * input.hours', '0.5 * input.hours'],
    [' has(input.note) ? input.note : "" ', 'has(input.note) ? input.note : ""'],
    ['cronState.counter', 'cronState.counter'],
  ])('warns of the value %s', (value, expression) => {
    const message = `"${value}" is stored as this very text. For the value that it names write {{ … }}: "{{ ${expression} }}".`;
    expect(findLiteralReferences({ 'plot:{{input.id}}': { name: value } })).toEqual([
      expect.objectContaining({ pointer: '/plot:{{input.id}}/name', code: 'literal_reference', message }),
    ]);
  });

  it('warns of values in the result, in operators and in any other template', () => {
    const result = { stateChanges: { 'plot:a': { n: { $set: 'input.n' } } }, result: { of: ['input.id'] } };
    expect(findLiteralReferences(result).map(({ pointer }) => pointer)).toEqual([
      '/stateChanges/plot:a/n/$set',
      '/result/of/0',
    ]);
    expect(findLiteralValues({ horse: 'input.horse' })).toMatchObject([{ pointer: '/horse' }]);
  });

  it.each([
    'my input.',
    'an input',
    '{{ input.id }}',
    'input',
    'input / output',
    'the input.id of it',
    'input.id is the one',
    'Read input.md, input.txt',
  ])('takes the value %s', (value) => {
    expect(findLiteralReferences({ 'plot:{{input.id}}': { name: value } })).toEqual([]);
  });
});

it('looks at long texts quickly', () => {
  const texts = [
    `input.a${' '.repeat(200_000)}x`,
    'input.a'.repeat(30_000),
    `${'{'.repeat(100_000)}input.a`,
    'entities['.repeat(25_000),
  ];
  const spent = cpuMs(() => {
    for (const text of texts) {
      findLiteralReferences({ [`plot:${text}`]: { name: text } });
      findBracesInKeys({ [`plot:${text.replaceAll('{{', '{ ')}`]: {} });
    }
  });
  expect(spent).toBeLessThan(1000);
});

it('words mistakes in long expressions quickly', () => {
  const sources = ['a'.repeat(4_000), 'a.'.repeat(2_000), 'a-'.repeat(2_000), `a.${' '.repeat(4_000)}`];
  const template = Object.fromEntries(sources.map((source, index) => [index, `{{ ${source} ? }}`]));
  expect(cpuMs(() => compileTemplate(template, { names: ['input'] }))).toBeLessThan(1000);
});

describe('contracts', () => {
  it.each<[JsonObject, string[]]>([
    [
      { 'laps?': 'integer' },
      ['/laps?: The "?" of an optional field stands behind its type: "laps": "integer?".'],
    ],
    [
      { car: { 'speed?': 'float?' } },
      ['/car/speed?: The "?" of an optional field stands behind its type: "speed": "float?".'],
    ],
    [
      { 'car?': { speed: 'float' } },
      [
        '/car?: The "?" of an optional field stands behind its type: a nested map cannot be optional; JSON Schema can say this.',
      ],
    ],
    [
      { type: 'object' },
      [expect.stringContaining('For an object without fields write {}') as unknown as string],
    ],
    [{ type: 'string' }, []],
    [{}, []],
    [{ type: 'object', properties: { 'laps?': {} } }, []],
  ])('%j', (source, problems) => {
    expect(told(findContractMistakes(source))).toEqual(problems);
  });
});

it('warns of types that are written as JSON Schema writes them', () => {
  const source = { laps: { type: 'integer' }, car: { wheel: { type: 'string' }, type: 'string' } };
  expect(told(findNestedTypes(source))).toEqual([
    '/laps: This is a nested map with one field that is called "type". For a field of this type write "laps": "integer".',
    '/car/wheel: This is a nested map with one field that is called "type". For a field of this type write "wheel": "string".',
  ]);
  expect(findNestedTypes({ type: 'object', properties: { laps: { type: 'integer' } } })).toEqual([]);
});

describe('cron inputs that are refused for certain', () => {
  const short = { horse: 'string', hours: 'integer', note: 'string?', tags: 'string[]?', car: 'json?' };
  const nested = {
    type: 'object',
    required: ['car'],
    properties: { car: { $ref: '#/$defs/car' }, kind: { enum: ['a', 'b'] } },
    anyOf: [{ required: ['kind'] }, { required: ['car'] }],
    $defs: { car: { type: 'object', required: ['id'], properties: { id: { type: 'string' } } } },
  };
  it.each<[JsonObject, JsonObject, string[]]>([
    [short, { horse: 'H1', hours: 1 }, []],
    [short, { horse: 'H{{counter}}', hours: '{{ counter }}' }, []],
    [short, { horse: '{{ cronState.result }}', hours: '{{ counter % 3 }}' }, []],
    [short, { horse: 'H1' }, ['/hours: The field "hours" is required.']],
    [short, {}, ['/horse: The field "horse" is required.', '/hours: The field "hours" is required.']],
    [
      short,
      { horse: 'H1', hours: 'one' },
      ['/hours: The value must be of type integer; found the text "one".'],
    ],
    [
      short,
      { horse: '{{counter}}', hours: '{{counter}}' },
      ['/horse: The value must be of type string; "{{counter}}" gives the type integer.'],
    ],
    [
      short,
      { horse: 'H1', hours: '{{counter}} h' },
      ['/hours: The value must be of type integer; "{{counter}} h" gives the type string.'],
    ],
    [
      short,
      { horse: 'H{{counter}}', hours: 1, hors: 2 },
      ['/hors: The field "hors" is not declared. Did you mean "horse"?'],
    ],
    [
      short,
      { horse: 'H{{counter}}', hours: 1, tags: ['a', '{{ counter }}', 7] },
      [
        '/tags/1: The value must be of type string; "{{ counter }}" gives the type integer.',
        '/tags/2: The value must be of type string; found the number 7.',
      ],
    ],
    [short, { '{{event}}': 1, horse: 'x' }, []],
    [nested, { car: { id: '{{ event }}' } }, []],
    [nested, { car: { name: '{{ event }}' } }, ['/car/id: The field "id" is required.']],
    [nested, { car: { id: 'x' }, kind: '{{ event }}' }, []],
    [
      nested,
      { car: { id: 'x' }, kind: 'c' },
      ['/kind: The value must be one of ["a","b"]; found the text "c".'],
    ],
  ])('%j takes %j', (source, template, problems) => {
    expect(told(findCertainRefusals(template, contractOf(source), CRON_NAME_KINDS))).toEqual(problems);
  });
});

it('knows of a result what the names of an event give, and not what a wallet or an input gives', () => {
  const contract = contractOf({ by: 'integer', at: 'integer', all: 'integer', n: 'integer', on: 'string' });
  const result = {
    by: '{{ walletAddress }}',
    at: '{{ timestamp }}',
    all: '{{ input }}',
    n: '{{ input.n }}',
    on: '{{ date }}',
  };
  expect(told(findCertainRefusals(result, contract, DIRECT_NAME_KINDS))).toEqual([
    '/at: The value must be of type integer; "{{ timestamp }}" gives the type string.',
    '/all: The value must be of type integer; "{{ input }}" gives the type object.',
  ]);
});
