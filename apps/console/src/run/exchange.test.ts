import { expect, it } from 'vitest';
import { exchangeOf } from './exchange.js';
import { exchangeFacts } from './exchange-facts.js';

const llm = {
  model: 'orrery/sampler',
  request: {
    model: 'sampler',
    temperature: 0.7,
    messages: [
      { role: 'system', content: 'You decide.' },
      { role: 'user', content: [{ type: 'text', text: 'Race!' }] },
    ],
  },
  response: '{"stateChanges":{}}',
  reasons: ['cut off'],
  attempts: [{ form: 'strict' }],
  usage: { usd: 0.01 },
  latencyMs: 12,
};

it('takes the messages out of the request, and breaks the lines of an answer in JSON', () => {
  expect(exchangeOf(llm)).toEqual({
    messages: [
      { index: 0, role: 'system', text: 'You decide.' },
      { index: 1, role: 'user', text: JSON.stringify([{ type: 'text', text: 'Race!' }], null, 2) },
    ],
    settings: { model: 'sampler', temperature: 0.7 },
    response: '{\n  "stateChanges": {}\n}',
    reasons: ['cut off'],
  });
});

it('keeps an answer that is no JSON, and knows where there is none', () => {
  expect(exchangeOf({ ...llm, response: 'I refuse.' })?.response).toBe('I refuse.');
  expect(exchangeOf({ ...llm, response: null, reasons: undefined })).toMatchObject({
    response: null,
    reasons: [],
  });
});

it('is nothing without its texts', () => {
  expect(exchangeOf(null)).toBeUndefined();
  expect(exchangeOf({ model: 'm', usage: {} })).toBeUndefined();
});

it('says what everybody may know, whatever of it is missing', () => {
  const { request: _, response: __, ...facts } = llm;
  expect(exchangeFacts({ ...facts, earlier: [facts] })).toMatchObject({
    model: 'orrery/sampler',
    attempts: [{ form: 'strict', error: undefined }],
    usd: 0.01,
    inputTokens: undefined,
    latencyMs: 12,
    earlier: [{ model: 'orrery/sampler', earlier: [] }],
  });
  expect(exchangeFacts(null)).toBeUndefined();
  expect(exchangeFacts({ model: 'm', usage: 'none', attempts: [1] })).toMatchObject({
    attempts: [],
    usd: undefined,
  });
});
