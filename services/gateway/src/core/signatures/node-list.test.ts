import { expect, it } from 'vitest';
import { parseNodes } from './node-list.js';

it('reads the nodes of chains, several for one in their order', () => {
  expect(parseNodes('')).toEqual({});
  expect(
    parseNodes('eip155:1=https://a.example/key, eip155:10=http://b.example,eip155:1=https://c.example'),
  ).toEqual({
    1: ['https://a.example/key', 'https://c.example'],
    10: ['http://b.example'],
  });
});

it('refuses what is no such list', () => {
  for (const text of [
    '1=https://a.example',
    'eip155:0=https://a.example',
    'eip155:1=ftp://a.example',
    'eip155:1=',
    ',',
  ])
    expect(parseNodes(text)).toBeUndefined();
});
