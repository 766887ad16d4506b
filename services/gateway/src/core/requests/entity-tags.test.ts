import { describe, expect, it } from 'vitest';
import { isNamed, movingOf, namesAny, tagOfHead, tagOfText } from './entity-tags.js';

describe('entity tags', () => {
  it('differ by head, by target and by what they are made of', () => {
    const tags = [tagOfHead('a', '/x'), tagOfHead('b', '/x'), tagOfHead('a', '/y'), tagOfText('a')];
    expect(new Set(tags).size).toBe(4);
    expect(tagOfHead('a', '/x')).toBe(tags[0]);
    expect(tags[0]).toMatch(/^"[\w-]{27}"$/);
  });

  it.each([
    ['"a"', true],
    ['W/"a"', true],
    ['"b", W/"a" ,"c"', true],
    ['*', false],
    ['a', false],
    ['"b"', false],
    ['', false],
    [undefined, false],
  ])('%s names "a": %s', (header, named) => {
    expect(isNamed('"a"', header)).toBe(named);
  });

  it.each([
    ['*', true],
    [' * ', true],
    ['"*"', false],
    [undefined, false],
  ])('%s names any: %s', (header, any) => {
    expect(namesAny(header)).toBe(any);
  });
});

it.each([
  [{ data: [{ isMoving: true }], pagination: {}, isMoving: true }, true],
  [{ data: [], isMoving: false }, false],
  [{ data: { isMoving: true } }, false],
  [{ data: 1, message: 'a,"isMoving":true}' }, false],
])('takes from a list whether it can change by itself: %j', (reply, isMoving) => {
  const { isMoving: _, ...members } = reply as { isMoving?: boolean };
  const found = movingOf(JSON.stringify(reply));
  expect([JSON.parse(found.text), found.isMoving]).toEqual([members, isMoving]);
});
