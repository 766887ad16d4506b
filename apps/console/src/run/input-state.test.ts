import { expect, it } from 'vitest';
import { formOf } from '../forms/form-model.js';
import { asForm, asJson, enteredOf, keptOf, partOf, readEntered, startOf } from './input-editor.js';

const form = formOf({ raceId: 'string', laps: 'integer?' });
const any = formOf(null);

it('starts with the form where there is one', () => {
  expect(startOf(form)).toEqual({ as: 'form', draft: { raceId: undefined, laps: undefined } });
  expect(startOf(any)).toEqual({ as: 'json', text: '{}' });
});

it('shows a given input in the form if the form can show it', () => {
  expect(enteredOf(form, { raceId: 'R1' }).as).toBe('form');
  expect(enteredOf(form, { raceId: 1 })).toEqual({ as: 'json', text: '{\n  "raceId": 1\n}' });
});

it('keeps the input from one way to enter it to the other', () => {
  const filled = { as: 'form', draft: { raceId: 'R1', laps: '3' } } as const;
  const text = asJson(form, filled);
  expect(readEntered(form, text)).toEqual({ ok: true, value: { raceId: 'R1', laps: 3 } });
  expect(asForm(form, text)).toEqual(filled);
  const empty = { raceId: '', laps: 3 };
  const shown = asForm(form, { as: 'json', text: JSON.stringify(empty) });
  expect(shown && readEntered(form, asJson(form, shown))).toEqual({ ok: true, value: empty });
});

it('takes from another version what it has a field for', () => {
  expect(keptOf(form, { raceId: 'R1', laps: 'many', note: 'x' })).toEqual({
    as: 'form',
    draft: { raceId: 'R1', laps: undefined },
  });
  expect(keptOf(any, { note: 'x' }).as).toBe('json');
  // What the input lacks is an empty field, and not no field.
  expect(keptOf(form, {})).toEqual(startOf(form));
  expect(keptOf(form, { laps: 3 })).toEqual({ as: 'form', draft: { raceId: undefined, laps: '3' } });
});

it('has no form for a text that it cannot show', () => {
  expect(asForm(form, { as: 'json', text: '{"other":1}' })).toBeUndefined();
  expect(asForm(form, { as: 'json', text: '{' })).toBeUndefined();
});

it('says what is wrong with a text', () => {
  const problemOf = (text: string) => {
    const read = readEntered(any, { as: 'json', text });
    return read.ok ? undefined : read.problems.get('');
  };
  expect(problemOf('{"a":1}')).toBeUndefined();
  expect(problemOf('[1]')).toBe('An input is a JSON object: { … }.');
  expect(problemOf('{')).toMatch(/^This is not JSON/);
});

it('gives as much as can be read already', () => {
  expect(partOf(form, { as: 'form', draft: { raceId: undefined, laps: '3' } })).toEqual({ laps: 3 });
  expect(partOf(any, { as: 'json', text: '{"a":1}' })).toEqual({ a: 1 });
  expect(partOf(any, { as: 'json', text: '{' })).toEqual({});
});
