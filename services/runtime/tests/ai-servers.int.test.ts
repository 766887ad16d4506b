import { LLMock } from '@copilotkit/aimock';
import { completes, fails, MISBEHAVIOUR, type Profile, startModelServer } from '@orrery/testing/model-server';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { askingAt } from './ai-question.js';

interface Body {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly response_format?: { readonly type: string };
}

/** What a server does with a request, in words that both kinds of servers know. */
type Step =
  | { readonly says: string; readonly finishReason?: string; readonly usage?: object }
  | { readonly calls: string }
  | { readonly fails: number };
type Chaos = 'disconnects' | 'malformed' | 'rate limit';

/** An OpenAI-compatible server for tests. */
interface Server {
  readonly baseUrl: string;
  /** How it answers from now on. */
  answer(decide: (body: Body) => Step): void;
  misbehave(how: Chaos): void;
  bodies(): Body[];
  stop(): Promise<void>;
}

async function ownServer(): Promise<Server> {
  const server = await startModelServer();
  const chaos: Record<Chaos, Profile> = {
    disconnects: MISBEHAVIOUR['disconnect mid-answer'],
    malformed: MISBEHAVIOUR['body is no JSON'],
    'rate limit': MISBEHAVIOUR['rate limit with retry-after'],
  };
  const profileOf = (step: Step): Profile => {
    if ('fails' in step) return fails(step.fails);
    if ('calls' in step) return MISBEHAVIOUR['tool call'];
    const { finishReason = 'stop', usage } = step;
    return completes({
      message: { content: step.says },
      finishReason,
      ...(usage && { usage: { ...usage } }),
    });
  };
  return {
    baseUrl: server.baseUrl,
    answer: (decide) => {
      server.reset();
      server.behave((call) => profileOf(decide(call.body))(call));
    },
    misbehave: (how) => {
      server.reset();
      server.behave(chaos[how]);
    },
    bodies: () => server.calls.map(({ body }) => body),
    stop: async () => server[Symbol.asyncDispose](),
  };
}

async function aimock(): Promise<Server> {
  const server = new LLMock({ port: 0 });
  await server.start();
  const begin = () => server.reset().clearRequests();
  const responseOf = (step: Step) => {
    if ('fails' in step) return { error: { message: 'failed' }, status: step.fails };
    if ('calls' in step) return { toolCalls: [{ name: step.calls, arguments: '{}' }] };
    const { finishReason = 'stop', usage } = step;
    return { content: step.says, finishReason, ...(usage && { usage: { ...usage } }) };
  };
  return {
    baseUrl: `${server.url}/v1`,
    answer: (decide) => {
      begin();
      server.on({}, (request) => responseOf(decide(request as Body)));
    },
    misbehave: (how) => {
      begin();
      server.on({}, { content: '{}' });
      server.setChaos({
        disconnectRate: how === 'disconnects' ? 1 : 0,
        malformedRate: how === 'malformed' ? 1 : 0,
        rateLimitRate: how === 'rate limit' ? 1 : 0,
      });
    },
    bodies: () => server.getRequests().map(({ body }) => body as unknown as Body),
    stop: () => server.stop(),
  };
}

const won = { stateChanges: { 'horse:HORSE_1': { wins: 4 } }, result: { winner: 'HORSE_1' } };
const strictly = {
  stateChanges: {
    horse: [
      {
        instanceId: 'HORSE_1',
        state: { wins: 4, name: null, gait: null, speed: null, tired: null, gear: null },
        unset: [],
      },
    ],
  },
  result: { winner: 'HORSE_1', time: null },
};

/** Answers given one after the other; the last one stays. */
const inTurn = (...steps: [Step, ...Step[]]) => {
  let at = 0;
  return () => {
    at += 1;
    return steps[Math.min(at, steps.length) - 1] ?? steps[0];
  };
};

describe.each([
  ['our own server', ownServer],
  ['aimock', aimock],
])('with %s', (_name, start) => {
  let server: Server;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server.stop());
  let ask: ReturnType<typeof askingAt>['ask'];
  beforeEach(() => {
    ask = askingAt(server.baseUrl).ask;
  });

  it('a proposal is asked for by a strict schema, and its tokens are counted', async () => {
    const usage = { prompt_tokens: 321, completion_tokens: 45 };
    server.answer(() => ({ says: JSON.stringify(strictly), usage }));
    const { mutation, llm } = await ask();
    expect(mutation).toEqual(won);
    expect(llm).toMatchObject({
      model: 'racing/large',
      usage: { inputTokens: 321, outputTokens: 45, isEstimated: false },
      attempts: [{ form: 'strict', status: 200, finishReason: 'stop', error: null }],
    });
    expect(server.bodies()).toMatchObject([
      {
        model: 'large-1',
        stream: false,
        response_format: { type: 'json_schema', json_schema: { strict: true } },
      },
    ]);
  });

  it('an answer that is no proposal goes back with the reason', async () => {
    server.answer(
      inTurn({ says: 'HORSE_1 wins!' }, { says: '{"HORSE_1":{}}' }, { says: JSON.stringify(won) }),
    );
    const { mutation, llm } = await ask();
    expect(mutation).toEqual(won);
    expect(llm?.attempts.map(({ error }) => error)).toEqual(['not_json', 'wrong_form', null]);
    const last = server.bodies().at(-1);
    expect(last?.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'user',
      'assistant',
      'user',
    ]);
    expect(last?.messages[2]?.content).toBe('HORSE_1 wins!');
    expect(last?.messages[3]?.content).toMatch(/refused.*\nBEGIN DATA reason/);
  });

  it('three answers that are no proposals are the end', async () => {
    server.answer(() => ({ says: '{"course:ASCOT":{"length":1}}' }));
    const { code, faults, llm } = await ask();
    expect({ code, faults }).toEqual({
      code: 'ai_output_invalid',
      faults: ['not_allowed', 'not_allowed', 'not_allowed'],
    });
    expect(llm?.reasons).toHaveLength(3);
    expect(server.bodies()).toHaveLength(3);
  });

  it('where code failed is kept for the owner, and is not told to the model', async () => {
    server.answer(() => ({ says: JSON.stringify(won) }));
    const kept = { code: 'SECRET' };
    const { code, cause, llm } = await ask({ check: async () => ({ reason: 'No.', cause: kept }) });
    expect({ code, cause }).toMatchObject({ code: 'ai_output_invalid', cause: { cause: kept } });
    expect(llm?.reasons).toEqual(['No.', 'No.', 'No.']);
    expect(JSON.stringify(server.bodies())).not.toContain('SECRET');
  });

  it('a form that the server refuses is followed by the next one', async () => {
    server.answer(({ response_format: form }) =>
      form === undefined ? { says: JSON.stringify(won) } : { fails: 400 },
    );
    const { code, llm } = await ask();
    expect(code).toBe('proposed');
    expect(llm?.attempts.map(({ form, status }) => [form, status])).toEqual([
      ['strict', 400],
      ['json', 400],
      ['text', 200],
    ]);
    await ask();
    expect(server.bodies().map(({ response_format: form }) => form?.type)).toEqual([
      'json_schema',
      'json_object',
      undefined,
      undefined,
    ]);
  });

  it('an answer cut off, and a tool call, go back', async () => {
    server.answer(
      inTurn(
        { says: JSON.stringify(won), finishReason: 'length' },
        { calls: 'win' },
        { says: JSON.stringify(won) },
      ),
    );
    const { code, faults } = await ask();
    expect({ code, faults }).toEqual({ code: 'proposed', faults: ['cut_off', 'tool_call', null] });
  });

  it('a server that fails once is asked again', async () => {
    server.answer(inTurn({ fails: 500 }, { says: JSON.stringify(won) }));
    const { code, faults } = await ask();
    expect({ code, faults }).toEqual({ code: 'proposed', faults: ['server_error', null] });
  });

  it.each<[Chaos, string]>([
    ['disconnects', 'broken_answer'],
    ['malformed', 'broken_answer'],
    ['rate limit', 'rate_limited'],
  ])('a server that always misbehaves is asked three times: %s', async (how, fault) => {
    server.misbehave(how);
    const { code, faults, llm } = await ask();
    expect({ code, faults }).toEqual({ code: 'unavailable', faults: [fault, fault, fault] });
    expect(llm?.response).toBeNull();
  });
});
