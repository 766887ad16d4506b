import { expect, it } from 'vitest';
import type { Attribute } from '../api/records.js';
import { emptyObject, readDraft } from '../forms/drafts.js';
import { formOfState } from './new-instance.js';

const attribute = (name: string, of: Partial<Attribute>): Attribute => ({
  id: 1,
  name,
  type: 'integer',
  constraints: null,
  indexed: false,
  defaultValue: null,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
  ...of,
});

it('begins with the defaults, and leaves out attributes without one', () => {
  const form = formOfState([
    attribute('wins', { defaultValue: 0 }),
    attribute('speed', { type: 'float', constraints: { min: 0, max: 100 }, defaultValue: 50.5 }),
    attribute('gait', { type: 'string', constraints: { enum: ['trot', 'walk'] }, defaultValue: 'walk' }),
    attribute('lame', { type: 'boolean', defaultValue: false }),
    attribute('notes', { type: 'json' }),
    attribute('motto', { type: 'string', constraints: { required: true }, defaultValue: '' }),
  ]);
  expect(readDraft(form, emptyObject(form))).toEqual({
    problems: new Map(),
    value: { wins: 0, speed: 50.5, gait: 'walk', lame: false, motto: '' },
  });
});

it('asks for a required attribute only where no default gives it', () => {
  const form = formOfState([
    attribute('stall', { constraints: { required: true } }),
    attribute('wins', { constraints: { required: true }, defaultValue: 0 }),
  ]);
  expect(readDraft(form, emptyObject(form)).problems).toEqual(new Map([['/stall', 'Give a value.']]));
});

it('is an empty form for a schema without attributes', () => {
  const form = formOfState([]);
  expect(readDraft(form, emptyObject(form)).value).toEqual({});
});
