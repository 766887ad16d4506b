import type { EntityInstance } from '@orrery/sdk';
import { expect, it } from 'vitest';
import { asCsv, asJson, readInstances, type TypedAttribute } from './rows.js';

const attributes: TypedAttribute[] = [
  { name: 'wins', type: 'integer', constraints: { min: 0 } },
  { name: 'note', type: 'string', constraints: null },
  { name: 'fit', type: 'boolean', constraints: null },
  { name: 'form', type: 'json', constraints: null },
];
const horse = (instanceId: string, state: EntityInstance['state']) =>
  ({ instanceId, state }) as EntityInstance;
const horses = [
  horse('A', { wins: 1, note: 'says "hi", loudly', fit: true, form: ['W', { a: 1 }] }),
  horse('B,2', { note: '', extra: 'text' }),
  horse('C', { wins: 0, note: '12', extra: '12' }),
  horse('D', { note: 'null', fit: null }),
  horse('E', { note: '"quoted" words', extra: null }),
  horse('F', { note: null }),
  horse('G', { instanceId: 'its own' }),
];
const plain = horses.map(({ instanceId, state }) => ({ instanceId, state }));

it.each([
  ['CSV', asCsv(attributes, horses)],
  ['JSON', asJson(horses)],
])('what is exported as %s is imported as it was', (_name, text) => {
  expect(readInstances(text, attributes)).toEqual({ rows: plain, problems: [] });
});

it('CSV has a column for each attribute, those of the schema first', () => {
  expect(asCsv(attributes, horses).split('\r\n')[0]).toBe('instanceId,wins,note,fit,form,extra,instanceId');
});

it.each([
  ['instanceId,wins\nA,many', ['Row 1: wins is no integer: many']],
  [
    'instanceId,wins\nA,-1\nA,1',
    ['Row 1 (A): wins is below 0.', 'Row 2 (A): its instanceId stands there twice.'],
  ],
  ['name,wins\nA,1', ['The first line has no column instanceId.']],
  ['instanceId,wins\nA,1,2', ['Row 1: it has 3 cells, the first line has 2.']],
  ['instanceId,wins\n,1', ['Row 1 (no id): it has no instanceId.']],
  ['[1]', ['Row 1: it is no object with instanceId and state.', 'Row 1 (no id): it has no instanceId.']],
  ['{"A":{}}', ['It is no list: [{ "instanceId": …, "state": { … } }].']],
  ['[{"instanceId":"A","state":{"wins":"1"}}]', ['Row 1 (A): wins is no whole number.']],
])('says what is wrong with %j', (text, problems) => {
  expect(readInstances(text, attributes).problems).toEqual(problems);
});
