import type { JsonObject } from '@orrery/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SAMPLER_MODEL, type SamplerServer, startSamplerServer } from './sampler-server.js';

let server: SamplerServer;
beforeAll(async () => {
  server = await startSamplerServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const schema = {
  type: 'object',
  properties: { winner: { type: 'string' }, laps: { type: 'integer', minimum: 1, maximum: 1_000_000 } },
  required: ['winner', 'laps'],
  additionalProperties: false,
};
const asking = (changes: JsonObject = {}): JsonObject => ({
  model: SAMPLER_MODEL,
  messages: [{ role: 'user', content: 'Who wins?' }],
  response_format: { type: 'json_schema', json_schema: { name: 'race', strict: true, schema } },
  ...changes,
});

async function send(body: unknown, key = server.apiKey, path = '/chat/completions') {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const answer = await fetch(`${server.baseUrl}${path}`, { method: 'POST', headers, body: text });
  return { status: answer.status, body: JSON.parse(await answer.text()) };
}

const content = async (body: JsonObject): Promise<string> =>
  (await send(body)).body.choices[0].message.content;

describe('the sampler', () => {
  it('answers as a chat completion that fits the schema, and reports its usage', async () => {
    const { status, body } = await send(asking());
    expect(status).toBe(200);
    expect(body).toMatchObject({
      object: 'chat.completion',
      model: SAMPLER_MODEL,
      choices: [{ index: 0, message: { role: 'assistant', refusal: null }, finish_reason: 'stop' }],
    });
    const drawn = JSON.parse(body.choices[0].message.content);
    expect(Object.keys(drawn).sort()).toEqual(['laps', 'winner']);
    const { prompt_tokens, completion_tokens, total_tokens } = body.usage;
    expect(prompt_tokens).toBeGreaterThan(0);
    expect(completion_tokens).toBeGreaterThan(0);
    expect(total_tokens).toBe(prompt_tokens + completion_tokens);
  });

  it('answers the same to the same request and seed, and something else to another', async () => {
    const first = await content(asking({ seed: 7 }));
    expect(await content(asking({ seed: 7 }))).toBe(first);
    expect(await content(asking({ seed: 8 }))).not.toBe(first);
    const others = [{ role: 'user', content: 'And now?' }];
    expect(await content(asking({ seed: 7, messages: others }))).not.toBe(first);
    expect(await content(asking())).not.toBe(await content(asking()));
  });

  it('stops at the token limit, and says so', async () => {
    const { body } = await send(asking({ max_completion_tokens: 2, seed: 1 }));
    expect(body.choices[0]).toMatchObject({ finish_reason: 'length' });
    expect(body.choices[0].message.content).toHaveLength(8);
    expect(body.usage.completion_tokens).toBe(2);
  });

  it.each<[string, JsonObject]>([
    ['no schema', { type: 'json_object' }],
    ['a schema that nothing fits', { type: 'json_schema', json_schema: { schema: false } }],
  ])(
    'declines %s in an answer, so that the runtime does not take it for a server without schemas',
    async (_, format) => {
      const { status, body } = await send(asking({ response_format: format }));
      expect(status).toBe(200);
      expect(body.choices[0].message).toEqual({
        role: 'assistant',
        content: null,
        refusal: expect.stringMatching(/^The sampler /),
      });
    },
  );

  it.each<[string, unknown, number]>([
    ['another model', asking({ model: 'gpt' }), 404],
    ['a stream', asking({ stream: true }), 400],
    ['no JSON', '{', 400],
    ['no object', '[]', 400],
    ['more than it reads', ' '.repeat(9_000_000), 413],
  ])('refuses %s', async (_, body, status) => {
    const refused = await send(body);
    expect(refused.status).toBe(status);
    expect(refused.body.error.message).toMatch(/^[A-Z].*\.$|schema/);
  });

  it('asks for its key, and has nothing else', async () => {
    expect((await send(asking(), 'wrong')).status).toBe(401);
    expect((await send(asking(), server.apiKey, '/completions')).status).toBe(404);
  });
});
