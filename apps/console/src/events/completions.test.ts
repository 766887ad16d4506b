import { describe, expect, it } from 'vitest';
import {
  type Completed,
  CRON_NAMES,
  completionsAt,
  completionsOfCondition,
  FUNCTIONS,
  inputMembers,
  type KnownNames,
  METHODS,
  NAMES,
  OPERATORS,
} from './completions.js';

const PAGES = import.meta.glob<string>('../../../../docs/templates.md', {
  query: '?raw',
  import: 'default',
  eager: true,
});
const [page = ''] = Object.values(PAGES);

const known = {
  input: ['winner', 'horse-id'],
  schemas: [{ name: 'horse', attributes: [{ name: 'wins', type: 'integer' }] }],
  events: ['race', 'feed'],
} as unknown as KnownNames;

/** What is offered at `|`. */
const at = (text: string, completed: Completed = 'template') => {
  const found = completionsAt(text.replace('|', ''), text.indexOf('|'), known, completed);
  return (
    found && {
      word: text.slice(found.from, text.indexOf('|')),
      labels: found.options.map(({ label }) => label),
    }
  );
};

it('in a condition it offers attributes of the schema, members of the input, names and functions', () => {
  const where = (text: string) =>
    completionsOfCondition(text, text.length, known, 'horse')?.options.map(({ label }) => label);
  expect(where('instance.w')?.slice(0, 2)).toEqual(['wins', METHODS[0]]);
  expect(where('instance.wins > 3 && i')).toEqual(
    expect.arrayContaining(['instance', 'id', 'input', 'has(']),
  );
  expect(where('input.')?.[0]).toBe('winner');
  expect(where('entities.')?.[0]).toBe(METHODS[0]);
  expect(where('instance.name == "i')).toBeUndefined();
});

describe('in a template', () => {
  it.each([
    ['{ "|', ['stateChanges', 'result', 'horse:{{ input.winner }}', 'horse:']],
    ['{ "stateChanges": { "|', ['horse:{{ input.winner }}', 'horse:']],
    ['{ "stateChanges": { "horse:A": { "w|', ['wins', '$delete']],
    ['{ "horse:{{ input.winner }}": { "|', ['wins', '$delete']],
    ['{ "horse:A": { "wins": { "$|', Object.keys(OPERATORS)],
  ])('%j', (text, labels) => {
    expect(at(text)?.labels).toEqual(labels);
  });

  it('offers names, functions and members within placeholders', () => {
    expect(at('{ "result": "{{ in|')).toMatchObject({
      word: 'in',
      labels: expect.arrayContaining(['input', 'int(']),
    });
    expect(at('{ "result": "{{ input.|')?.labels.slice(0, 2)).toEqual(['winner', METHODS[0]]);
    expect(at('{ "result": "{{ entities.|')?.labels[0]).toBe('horse');
    expect(at('{ "result": "{{ entities.horse.A.w|')).toMatchObject({
      word: 'w',
      labels: expect.arrayContaining(['wins']),
    });
    expect(at('{ "result": "{{ math.r|')?.labels).toContain('round(');
    expect(at('{ "horse:{{ input.w|')).toMatchObject({
      word: 'w',
      labels: expect.arrayContaining(['winner']),
    });
    expect(at('{ "result": "{{ size(input.list).|')?.labels).toEqual([...METHODS]);
  });

  it.each(['{ "result": "plain |', '{ "result": { "|', '|', '{ "result": "{{ input.winner }} wins|'])(
    'offers nothing at %j',
    (text) => {
      expect(at(text)).toBeUndefined();
    },
  );
});

it('offers the parts of what follows, and the events', () => {
  expect(at('[{ "|', 'followUps')?.labels).toContain('after');
  expect(at('[{ "event": "|', 'followUps')?.labels).toEqual(['race', 'feed']);
  expect(at('[{ "when": "{{ res|', 'followUps')?.labels).toContain('result');
});

it('offers to a schedule what it has', () => {
  const names = at('{ "n": "{{ |', 'cron')?.labels ?? [];
  expect(names).toContain('counter');
  expect(names).not.toContain('entities');
});

it.each([
  ['{ "a": "string", "b": "integer?" }', ['a', 'b']],
  ['{ "type": "object", "properties": { "a": {} } }', ['a']],
  ['{ "type": "string" }', ['type']],
  ['{ unfinished', []],
  ['', []],
])('the members of the contract %j', (contract, members) => {
  expect(inputMembers(contract)).toEqual(members);
});

it('offers what the page about templates names, and nothing else', () => {
  for (const name of [...Object.keys(NAMES), ...Object.keys(CRON_NAMES)])
    expect(page).toMatch(new RegExp(`^\\| \`${name}\``, 'm'));
  for (const name of Object.keys(OPERATORS)) expect(page).toContain(`\`{ "${name}":`);
  for (const name of [...FUNCTIONS, ...METHODS])
    expect(page).toMatch(new RegExp(`\\b${name.slice(0, -1).replace('math.', '')}\\b`));
});
