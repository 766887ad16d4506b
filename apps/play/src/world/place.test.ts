import { expect, it } from 'vitest';
import { pathTo, placeOf } from './place.js';

const at = (path: string) => placeOf(new URL(path, 'http://localhost'));

it('names a deployment, a frame and a moment', () => {
  expect(at('/play/0xab')).toEqual({ deployment: '0xab', isEmbedded: false, seq: undefined });
  expect(at('/play/0xab/')).toMatchObject({ deployment: '0xab', isEmbedded: false });
  expect(at('/play/0xab/embed?seq=12')).toEqual({ deployment: '0xab', isEmbedded: true, seq: 12 });
});

it.each(['0', '-1', '1.5', 'x', '', '01', '9'.repeat(17)])('takes ?seq=%s for no moment', (seq) => {
  expect(at(`/play/7?seq=${seq}`).seq).toBeUndefined();
});

it('names none where there is none, or one that no text can be', () => {
  for (const path of ['/play', '/play/', '/play/%ff', '/play/a/b'])
    expect(at(path).deployment).toBeUndefined();
});

it('is written as it is read', () => {
  expect(at(pathTo('a b/c', 3, true))).toEqual({ deployment: 'a b/c', isEmbedded: true, seq: 3 });
  expect(pathTo('0xab')).toBe('/play/0xab');
});
