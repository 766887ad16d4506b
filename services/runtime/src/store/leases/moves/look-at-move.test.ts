import { expect, it } from 'vitest';
import { stepOf } from './look-at-move.js';

const begun = {
  livesAtSource: true,
  atSource: 4,
  atTarget: 0,
  isPublished: false,
  isSubscribed: false,
  isInStep: false,
};
const copying = { ...begun, isPublished: true, isSubscribed: true };
const fenced = { ...copying, atSource: 0 };

it.each([
  ['noted', begun],
  ['published', { ...begun, isPublished: true }],
  ['subscribed', copying],
  ['in_step', { ...copying, isInStep: true }],
  ['fenced', { ...fenced, isInStep: true }],
  ['flushed', { ...fenced, isSubscribed: false }],
  ['arrived', { ...fenced, isSubscribed: false, atTarget: 6 }],
  ['switched', { ...fenced, isSubscribed: false, atTarget: 6, livesAtSource: false }],
  ['ended', { ...fenced, isSubscribed: false, isPublished: false, atTarget: 7, livesAtSource: false }],
] as const)('what the databases hold says that a move is %s', (step, facts) => {
  expect(stepOf(facts)).toBe(step);
});
