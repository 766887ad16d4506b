import type { ReplayComparison, ReplayedEntry, ReplayRun } from '@orrery/sdk';
import { expect, it } from 'vitest';
import { showReplay } from './show-replay.js';

const run = {
  ...{ fork: '0x1', isKept: false, entries: 3, refused: 1, partsAt: 3, parting: [3, 4], states: [] },
  ...{ isCut: false, cost: { executions: 0, inputTokens: 0, outputTokens: 0, usd: null } },
} as ReplayRun;
const comparison = { from: 2, to: 4, runs: [run], events: [], spreads: [] } as ReplayComparison;
const original = { event: 'race', kind: 'execution', error: null, stateChanges: { 'horse:A': { wins: 1 } } };
const ended = (seq: number, members: object) =>
  ({
    ...{ run: 1, seq, original, replayed: null, error: null, differences: ['status'], ...members },
  }) as unknown as ReplayedEntry;
const linesOf = (...entries: ReplayedEntry[]) => showReplay(comparison, entries).split('\n');

it('an entry that ends otherwise has its reason, whether it failed or was refused', () => {
  const error = { code: 'invalid_state', detail: '/horse:A/level: The attribute "level" is required.' };
  const lines = linesOf(
    ended(3, { replayed: { ...original, error } }),
    ended(4, { error: { code: 'invalid_input', detail: `/id: ${'x'.repeat(500)}` } }),
  );
  expect(lines.at(-3)).toMatch(/^entry .+ replayed +reason$/);
  expect(lines.at(-2)).toMatch(/ invalid_state +\/horse:A\/level: The attribute "level" is required\.$/);
  expect(lines.at(-1)).toMatch(/ invalid_input +\/id: x{194}…$/);
});

it('no reasons take no room', () => {
  const [head, row] = linesOf(ended(3, { replayed: original })).slice(-3);
  expect(head).toMatch(/ replayed$/);
  expect(row).toMatch(/\{"horse:A":\{"wins":1\}\}$/);
});
