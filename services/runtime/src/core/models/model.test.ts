import { expect, it } from 'vitest';
import { evidenceOf, isPriced, priced } from './model.js';

it('a model with one price costs nothing for the other kind of token, one without prices nobody knows what', () => {
  const tokens = { inputTokens: 1_000_000, outputTokens: 500_000 };
  expect(priced({ inputUsdPerMillionTokens: 2 }, tokens)).toEqual({ ...tokens, usd: 2 });
  expect(priced({ inputUsdPerMillionTokens: 2, outputUsdPerMillionTokens: 4 }, tokens).usd).toBe(4);
  expect(priced({}, tokens).usd).toBeNull();
  expect([isPriced({}), isPriced({ outputUsdPerMillionTokens: 0 })]).toEqual([false, true]);
});

it('evidence can be stored, whatever a decider leaves', () => {
  expect(evidenceOf({})).toEqual({ llm: null, llmHash: null, attestation: null });
  expect(evidenceOf({ llm: { text: 'a\u0000b' } }).llm).not.toEqual({ text: 'a\u0000b' });
});
