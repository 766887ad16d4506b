import { expect, it } from 'vitest';
import {
  defaultModelId,
  evidenceOf,
  isPriced,
  type Model,
  priced,
  refuseUnknownModel,
  refuseUnpriced,
  usableModel,
} from './model.js';

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

const offered = (modelId: string, isDefault: boolean, prices: Partial<Model> = {}) =>
  ({ record: { modelId, isDefault }, ...prices }) as Model;
const models = { offered: [offered('free', true), offered('dear', false, { inputUsdPerMillionTokens: 1 })] };

it('a model that is not offered can be neither chosen nor used', () => {
  expect([defaultModelId(models), defaultModelId({ offered: [] })]).toEqual(['free', null]);
  for (const chosen of ['dear', null, undefined]) refuseUnknownModel(models, chosen);
  expect(() => refuseUnknownModel(models, 'deer')).toThrow('Did you mean "dear"?');
  expect(usableModel(models, 'dear')).toBe(models.offered[1]);
  for (const gone of ['gone', null])
    expect(() => usableModel(models, gone)).toThrow(
      expect.objectContaining({ code: 'ai_model_unavailable' }),
    );
});

it('a budget needs a model with prices', () => {
  for (const [chosen, budget] of [['dear', 1] as const, ['gone', 1] as const, [null, null] as const])
    refuseUnpriced(models, chosen, budget, '/aiModelId');
  expect(() => refuseUnpriced(models, null, 1, '/aiDailyBudgetUsd')).toThrow(
    'The AI model "free" has no prices',
  );
});
