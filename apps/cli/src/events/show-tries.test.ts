import { expect, it } from 'vitest';
import { showTries } from './show-tries.js';
import type { Try } from './try-event.js';

const valid = (wins: number, changes: Partial<Try> = {}): Try => ({
  valid: true,
  event: 'race',
  eventVersion: 2,
  model: 'local',
  stateChanges: { 'horse:H1': { wins }, ...(wins > 1 && { 'horse:H2': null }) },
  result: { headline: `H1 wins ${wins} times, and nobody knows how that was done` },
  requests: 1,
  inputTokens: 512,
  outputTokens: 60,
  usd: 0.00034567,
  latencyMs: 812,
  error: null,
  ...changes,
});
const invalid = valid(0, {
  valid: false,
  stateChanges: {},
  result: null,
  requests: 3,
  usd: null,
  error: { code: 'ai_output_invalid', detail: 'The answer is no JSON.' },
});

it('shows proposals side by side, how many agree, and why one is not valid', () => {
  expect(showTries([valid(1), valid(2), valid(1), invalid])).toBe(
    `race, version 2, local: 3 of 4 valid

proposal         same  1                             2                             3
horse:H1 wins    2/4   1                             2                             1
horse:H2         3/4   –                             deleted                       –
result headline  2/4   H1 wins 1 times, and nobody…  H1 wins 2 times, and nobody…  H1 wins 1 times, and nobody…
valid            3/4   yes                           yes                           yes
requests         –     1                             1                             1
tokens           –     512 + 60                      512 + 60                      512 + 60
US dollars       –     0.000346                      0.000346                      0.000346
ms               –     812                           812                           812

proposal         same  4
horse:H1 wins    2/4   –
horse:H2         3/4   –
result headline  2/4   –
valid            3/4   ai_output_invalid
requests         –     3
tokens           –     512 + 60
US dollars       –     –
ms               –     812

4: The answer is no JSON.`,
  );
});

it('says nothing of a model where a template decides', () => {
  const measures = {
    model: null,
    requests: null,
    inputTokens: null,
    outputTokens: null,
    usd: null,
    latencyMs: null,
  };
  const direct = valid(1, { ...measures, result: 'done' });
  expect(showTries([direct, direct])).toBe(
    `race, version 2, no model: 2 of 2 valid

proposal       same  1     2
horse:H1 wins  2/2   1     1
result         2/2   done  done
valid          2/2   yes   yes`,
  );
});
