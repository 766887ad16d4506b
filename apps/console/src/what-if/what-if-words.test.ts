import { expect, it } from 'vitest';
import { tallyWords, verdictOf } from './histories.js';
import { costWords } from './what-if-page.js';

const cost = { executions: 2, inputTokens: 1000, outputTokens: 200, usd: 0.5 };
const none = { executions: 0, inputTokens: 0, outputTokens: 0, usd: null };

it('a run says whether and where the histories part', () => {
  expect(verdictOf({ partsAt: null, parting: [], entries: 1200 })).toBe('All 1,200 entries end as recorded.');
  expect(verdictOf({ partsAt: 4, parting: [4, 6], entries: 9 })).toBe(
    'The histories part at entry 4: 2 of 9 entries end otherwise.',
  );
});

it('an event says how its executions ended, and what they cost', () => {
  expect(tallyWords({ succeeded: 9, failed: 1, refused: 0, cost })).toBe('9 succeeded, 1 failed, $0.50');
  expect(tallyWords({ succeeded: 0, failed: 0, refused: 0, cost: none })).toBe('–');
});

it('what models cost is said with what nothing tells', () => {
  expect(costWords({ cost, withoutEstimate: 0 })).toBe('Models decide 2 executions: 1,200 tokens, $0.50.');
  expect(costWords({ cost: none, withoutEstimate: 3 })).toBe(
    'Models decide 3 executions that they did not before.',
  );
});
