import { expect, it } from 'vitest';
import { readPack, writePack } from './pack-text.js';

const items = [
  { id: '1', headers: { 'orrery-request': 'a\n"b"' }, body: '{"name":"Rennen 🐎\\n"}' },
  { id: '2z', headers: {}, body: 'null' },
];

it('reads what it has written, whatever the texts are', () => {
  expect(readPack(writePack(items))).toEqual(items);
});

it.each([writePack(items).slice(0, -1), `${writePack(items)}x`, '', '\n', 'null\n', '[1]\n', '[]'])(
  'refuses what is no pack: %j',
  (text) => {
    expect(() => readPack(text)).toThrow();
  },
);
