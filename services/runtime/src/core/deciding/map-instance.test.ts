import { compileSchema } from '@orrery/deciding';
import { schemaOf } from '@orrery/deciding/test-support';
import { describe, expect, it } from 'vitest';
import { mapInstance, readMapping } from './map-instance.js';

const required = { constraints: { required: true } };
const horse = compileSchema(
  schemaOf('horse', { victories: ['integer', required], speed: ['integer', { defaultValue: 7 }] }),
);
const map = (state: object, mapping?: object, where?: string, fillDefaults?: boolean) =>
  mapInstance(
    horse,
    readMapping({ mapping: mapping as never, where, fillDefaults }),
    'H1',
    { state: state as never, revision: 1 },
    65_536,
  );

const rename = { victories: '{{ instance.wins }}', wins: null };

describe('a mapping', () => {
  it('leaves what satisfies the schema, defaults included', () => {
    expect(map({ victories: 3 }, rename)).toEqual({ kind: 'fits' });
  });

  it('says without values what is wrong', () => {
    expect(map({ wins: 3 })).toMatchObject({
      kind: 'unfit',
      problems: [{ pointer: '/victories', code: 'required' }],
    });
  });

  it('makes new values of the old ones, removes, keeps and fills in defaults; again it changes nothing', () => {
    const mapped = map({ wins: 3, name: 'Bella' }, rename);
    expect(mapped).toEqual({ kind: 'mapped', state: { name: 'Bella', victories: 3, speed: 7 } });
    expect(map((mapped as { state: object }).state, rename)).toEqual({ kind: 'fits' });
  });

  it.each([
    ['a value that is not there', { victories: '{{ instance.none }}' }, 'template_syntax'],
    ['a value that does not fit', { victories: 'many' }, 'wrong_type'],
  ])('refuses %s', (_what, mapping, code) => {
    expect(map({ wins: 3 }, mapping)).toMatchObject({ kind: 'unfit', problems: [{ code }] });
  });

  it('makes no state larger than one may be', () => {
    const state = { wins: 3, text: 'x'.repeat(65_510) };
    expect(map(state, rename)).toMatchObject({
      kind: 'unfit',
      problems: [{ pointer: '', code: 'too_large' }],
    });
    expect(map({ ...state, text: 'x'.repeat(65_400) }, rename)).toMatchObject({ kind: 'mapped' });
  });

  it('fills in nothing but defaults where that is all that is missing, and nothing where they are stored', () => {
    const defaultsOf = (state: object, mapping?: object) => map(state, mapping, undefined, true);
    const filled = { kind: 'mapped', state: { victories: 3, speed: 7 } };
    expect(defaultsOf({ victories: 3 })).toEqual(filled);
    expect(defaultsOf({ victories: 3 }, rename)).toEqual(filled);
    expect(defaultsOf({ wins: 3 }, rename)).toEqual(filled);
    for (const speed of [7, 9, null]) expect(defaultsOf({ victories: 3, speed })).toEqual({ kind: 'fits' });
    expect(defaultsOf({ wins: 3 })).toMatchObject({ kind: 'unfit', problems: [{ code: 'required' }] });
    expect(defaultsOf({ victories: 3, text: 'x'.repeat(65_505) })).toMatchObject({
      kind: 'unfit',
      problems: [{ code: 'too_large' }],
    });
  });

  it('maps what a condition selects too, and only if it does so no more then', () => {
    const old = { victories: 1, wins: 3 };
    expect(map(old, rename, 'instance.wins >= 0')).toMatchObject({ kind: 'mapped', state: { victories: 3 } });
    expect(map(old, { victories: 5 }, 'instance.wins >= 0')).toMatchObject({
      kind: 'unfit',
      problems: [{ code: 'still_selected' }],
    });
  });

  it.each([
    [{ victories: '{{ instance. }}' }, undefined, 'invalid_template', '/mapping/victories'],
    [{ victories: '{{ input.n }}' }, undefined, 'invalid_template', '/mapping/victories'],
    [{ 'a.b': 1 }, undefined, 'validation_failed', '/mapping/a.b'],
    [{}, 'instance.wins >', 'validation_failed', '/where'],
  ])('is refused before anything is looked at: %j, %s', (mapping, where, code, pointer) => {
    expect(() => readMapping({ mapping, where })).toThrow(
      expect.objectContaining({ code, errors: [expect.objectContaining({ pointer })] }),
    );
  });
});
