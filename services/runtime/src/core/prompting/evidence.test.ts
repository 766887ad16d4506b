import { canonicalHash } from '@orrery/contracts';
import { expect, it } from 'vitest';
import { evidenceOfExchange, type ModelCallRecord as ModelAttempt, type ModelExchange } from './model.js';

const attempt: ModelAttempt = {
  form: 'strict',
  status: 200,
  finishReason: 'stop',
  inputTokens: 10,
  outputTokens: 5,
  latencyMs: 12,
  error: null,
};
const exchange: ModelExchange = {
  model: 'racing/large',
  temperature: 0,
  seed: 7,
  request: { messages: [{ role: 'user', content: 'Who wins?\u0000' }] },
  response: '{}',
  reasons: [],
  attempts: [attempt],
  usage: { inputTokens: 10, outputTokens: 5, usd: 0.002, isEstimated: false },
  latencyMs: 12,
};

it('the hash of an exchange covers the model and both texts as they are stored, and not what they cost', () => {
  const { llm, llmHash, attestation } = evidenceOfExchange(exchange, { quote: 'q' });
  const request = { messages: [{ role: 'user', content: 'Who wins?\ufffd' }] };
  expect(llmHash).toBe(canonicalHash({ model: 'racing/large', request, response: '{}' }));
  expect(llm).toEqual({ ...exchange, request });
  expect(attestation).toEqual({ quote: 'q' });
  expect(evidenceOfExchange({ ...exchange, latencyMs: 99 }, null)).toMatchObject({
    llmHash,
    attestation: null,
  });
  expect(evidenceOfExchange({ ...exchange, response: '[]' }, null).llmHash).not.toBe(llmHash);
});
