import type { ModelUsage } from '../models/decider.js';
import { isPriced, type Model } from '../models/model.js';

type Prices = Pick<Model, 'inputUsdPerMillionTokens' | 'outputUsdPerMillionTokens'>;

/** Tokens with their price in US dollars; null for a model without prices. */
export function priced(
  prices: Prices,
  { inputTokens, outputTokens }: Pick<ModelUsage, 'inputTokens' | 'outputTokens'>,
): ModelUsage {
  const { inputUsdPerMillionTokens: input = 0, outputUsdPerMillionTokens: output = 0 } = prices;
  const usd = isPriced(prices) ? (inputTokens * input + outputTokens * output) / 1_000_000 : null;
  return { inputTokens, outputTokens, usd };
}
