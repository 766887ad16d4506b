import { expect, it } from 'vitest';
import { readPack, writePack } from './pack-text.js';

const items = [
  { id: '1', headers: { 'orrery-request': 'a\n"b"' }, body: '{"name":"Rennen 🐎\\n"}' },
  { id: '2z', headers: {}, body: 'null' },
];

it('reads what it has written, whatever the texts are', () => {
  expect(readPack(writePack(items))).toEqual(items);
});

it('refuses a pack that was cut short', () => {
  expect(() => readPack(writePack(items).slice(0, -1))).toThrow('as long as it says');
  expect(() => readPack('')).toThrow();
});
