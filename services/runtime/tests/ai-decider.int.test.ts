import { once } from 'node:events';
import { canonicalHash, ServiceError } from '@orrery/contracts';
import { raceDefinition } from '@orrery/deciding/test-support';
import {
  completes,
  fails,
  MISBEHAVIOUR,
  type ModelServer,
  type Profile,
  refusesForms,
  refusesParameter,
  refusesSystemRole,
  says,
  startModelServer,
} from '@orrery/testing/model-server';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { modelAt, world } from '../src/core/prompting/ai.test-support.js';
import type { ModelUsage } from '../src/core/prompting/model.js';
import { FAILURE_INTERVAL_MS, FAILURES_TO_OPEN } from '../src/runs/asking/circuits.js';
import { askingAt, hastyClock } from './ai-question.js';

const won = { stateChanges: { 'horse:HORSE_1': { wins: 4 } }, result: { winner: 'HORSE_1' } };
const server: ModelServer = await startModelServer();
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(() => {
  server.reset();
  server.behave(says(won));
});
const PRICES = { inputUsdPerMillionTokens: 2, outputUsdPerMillionTokens: 10 };

/** A time that stands still, in milliseconds since the epoch. */
const NOW = Date.UTC(2030, 0, 1);

/** A clock on which the deadlines of questions under way (in 30 s) come when a test says so. */
function deadlineClock() {
  const clock = hastyClock();
  let waiting: (() => void)[] = [];
  const isDeadline = (ms: number) => ms > 29_000 && ms < 30_000;
  const sleep: typeof clock.sleep = (ms, signal) =>
    isDeadline(ms) ? new Promise((resolve) => waiting.push(resolve)) : clock.sleep(ms, signal);
  const reach = () => {
    for (const wake of waiting) wake();
    waiting = [];
  };
  return { clock: { ...clock, sleep }, reach };
}

describe('what a decision leaves', () => {
  it('its request and answer, their hash, and how it was asked', async () => {
    const { llm, evidence } = await askingAt(server.baseUrl).ask();
    expect(llm?.request).toEqual(server.calls[0]?.body);
    expect(llm).toMatchObject({ temperature: 0.7, response: JSON.stringify(won), reasons: [] });
    expect(llm?.seed).toBe(server.calls[0]?.body['seed']);
    const { model, request, response } = llm ?? {};
    expect(evidence.llmHash).toBe(canonicalHash({ model, request, response } as never));
  });

  it('the same seed for the same execution, another one for another, and for each further answer', async () => {
    const seeds = async (executionId: string) => {
      server.reset();
      server.plan(says('no'), says(won));
      await askingAt(server.baseUrl).ask({ executionId });
      return server.calls.map(({ body }) => Number(body['seed']));
    };
    const [first = 0, second] = await seeds('e1');
    expect(second).toBe(first + 1);
    expect(await seeds('e1')).toEqual([first, second]);
    expect(await seeds('e2')).not.toContain(first);
  });

  it('the server’s attestation, from a header or from the body', async () => {
    server.behave(
      completes({
        message: { content: JSON.stringify(won) },
        headers: { 'x-attestation': 'q1' },
        more: { proof: { quote: 'q2' } },
      }),
    );
    const { ask } = askingAt(server.baseUrl);
    const attestationFrom = async (from: 'header' | 'body', name: string) =>
      (await ask({ model: { attestation: { from, name } } })).evidence.attestation;
    expect(await attestationFrom('header', 'x-attestation')).toEqual({ 'x-attestation': 'q1' });
    expect(await attestationFrom('body', 'proof')).toEqual({ quote: 'q2' });
    expect(await attestationFrom('body', 'nothing')).toBeNull();
    expect((await ask()).evidence.attestation).toBeNull();
  });

  it('an attestation of at most 64 KiB', async () => {
    const { ask } = askingAt(server.baseUrl);
    const largest = { quote: 'q'.repeat(64 * 1024 - JSON.stringify({ quote: '' }).length) };
    const kept = async (proof: object) => {
      server.behave(completes({ message: { content: JSON.stringify(won) }, more: { proof } }));
      return (await ask({ model: { attestation: { from: 'body', name: 'proof' } } })).evidence.attestation;
    };
    expect(await kept(largest)).toEqual(largest);
    expect(await kept({ quote: `${largest.quote}q` })).toBeNull();
  });

  it('no attestation of an answer that was refused, where no other one came', async () => {
    server.behave(fails(401));
    server.plan(completes({ message: { content: 'no' }, headers: { 'x-attestation': 'q1' } }));
    const model = { attestation: { from: 'header', name: 'x-attestation' } } as const;
    const { evidence, llm } = await askingAt(server.baseUrl).ask({ model });
    expect({ attestation: evidence.attestation, response: llm?.response }).toEqual({
      attestation: null,
      response: null,
    });
    expect(llm?.attempts).toHaveLength(2);
  });

  it('never the key of the server, whatever the server repeats', async () => {
    server.behave(
      fails(401, {
        body: JSON.stringify({
          error: { message: 'Incorrect API key sk-secret', param: 'sk-secret', code: 'sk-secret' },
        }),
      }),
    );
    const { ask, logged } = askingAt(server.baseUrl);
    const outcome = await ask();
    expect(server.calls[0]?.headers.authorization).toBe('Bearer sk-secret');
    expect(logged).toHaveLength(1);
    expect(JSON.stringify([outcome, logged])).not.toContain('sk-secret');
  });

  it('sends no key to a server that asks for none', async () => {
    await askingAt(server.baseUrl).ask({ model: { apiKey: undefined } });
    expect(server.calls[0]?.headers).not.toHaveProperty('authorization');
  });
});

describe('cost', () => {
  it('is reserved at its most before each request, and settled as the server counts', async () => {
    server.plan(says('no'));
    const { llm, reserved, settled } = await askingAt(server.baseUrl).ask({ model: PRICES });
    expect(settled).toEqual([
      { inputTokens: 100, outputTokens: 20, usd: 0.0004 },
      { inputTokens: 100, outputTokens: 20, usd: 0.0004 },
    ]);
    expect(llm?.usage).toEqual({ inputTokens: 200, outputTokens: 40, usd: 0.0008, isEstimated: false });
    expect(reserved).toHaveLength(2);
    const [{ inputTokens = 0, outputTokens = 0, usd = 0 } = {}] = reserved;
    expect(inputTokens).toBeGreaterThanOrEqual(
      Buffer.byteLength(JSON.stringify(server.calls[0]?.body.messages)) / 4,
    );
    expect(outputTokens).toBe(8192);
    expect(usd).toBeCloseTo((inputTokens * 2 + outputTokens * 10) / 1e6, 12);
    expect(server.calls[0]?.body['max_tokens']).toBe(8192);
  });

  it.each([
    ['counts nothing', null],
    ['counts nonsense', { prompt_tokens: -1, completion_tokens: 1e300 }],
  ])('is estimated, and said to be, where the server %s', async (_what, usage) => {
    server.behave(completes({ message: { content: JSON.stringify(won) }, usage }));
    const { llm, reserved } = await askingAt(server.baseUrl).ask();
    expect(llm?.usage).toEqual({
      inputTokens: reserved[0]?.inputTokens,
      outputTokens: Math.ceil(JSON.stringify(won).length / 3),
      usd: null,
      isEstimated: true,
    });
    expect(llm?.attempts).toMatchObject([{ inputTokens: null, outputTokens: null }]);
  });

  it('is said to be estimated where one of several answers was not counted', async () => {
    server.plan(completes({ message: { content: 'no' }, usage: null }));
    const { llm, reserved } = await askingAt(server.baseUrl).ask();
    expect(llm?.attempts).toMatchObject([{ inputTokens: null }, { inputTokens: 100 }]);
    const estimated = reserved[0]?.inputTokens ?? 0;
    expect(llm?.usage).toMatchObject({ inputTokens: estimated + 100, isEstimated: true });
  });

  it.each(['server error', 'wrong key', 'rate limit'] as const)(
    'is nothing where the server did not begin to answer: %s',
    async (profile) => {
      server.behave(MISBEHAVIOUR[profile]);
      const { settled, reserved, llm } = await askingAt(server.baseUrl).ask({ model: PRICES });
      expect(settled).toEqual(reserved.map(() => ({ inputTokens: 0, outputTokens: 0, usd: 0 })));
      expect(llm?.usage.isEstimated).toBe(false);
    },
  );

  it.each(['hang', 'slow drip', 'disconnect mid-answer', '50 MB'] as const)(
    'is all that was reserved where the answer was not read to its end: %s',
    async (profile) => {
      const clock = hastyClock();
      server.behave((call) => {
        if (profile === 'hang' || profile === 'slow drip') clock.timeOut();
        return MISBEHAVIOUR[profile](call);
      });
      const { settled, reserved, llm } = await askingAt(server.baseUrl, { clock }).ask({ model: PRICES });
      expect(settled).toHaveLength(3);
      expect(settled).toEqual(reserved);
      expect(llm?.usage.isEstimated).toBe(true);
    },
  );

  it('is nothing where the caller goes away before the request is sent', async () => {
    const leaving = new AbortController();
    const settled: ModelUsage[] = [];
    const budget = {
      reserve: async () => {
        leaving.abort(new Error('gone'));
        return { settle: async (usage: ModelUsage) => void settled.push(usage) };
      },
    };
    const { code, llm } = await askingAt(server.baseUrl).ask({ budget, model: PRICES }, leaving.signal);
    expect({ code, llm, calls: server.calls.length }).toEqual({ code: 'gone', llm: undefined, calls: 0 });
    expect(settled).toEqual([{ inputTokens: 0, outputTokens: 0, usd: 0 }]);
  });

  it('that the budget does not cover is not caused', async () => {
    let reservations = 0;
    const budget = {
      reserve: async () => {
        reservations += 1;
        if (reservations > 1) throw new ServiceError('budget_exhausted');
        return { settle: async () => undefined };
      },
    };
    server.plan(says('no'));
    const { code, faults } = await askingAt(server.baseUrl).ask({ budget });
    expect({ code, faults }).toEqual({ code: 'budget_exhausted', faults: ['not_json'] });
    expect(server.calls).toHaveLength(1);
  });
});

describe('time', () => {
  it('is waited as long as the server asks, and at least as backoff says', async () => {
    const clock = hastyClock();
    server.plan(
      fails(429, { headers: { 'retry-after': '3' } }),
      fails(503, { headers: { 'retry-after-ms': '700.5' } }),
    );
    await askingAt(server.baseUrl, { clock }).ask();
    expect(clock.skipped[0]).toBe(3000);
    expect(clock.skipped[1]).toBeGreaterThanOrEqual(700.5);
    server.plan(fails(500), fails(500));
    clock.skipped.length = 0;
    await askingAt(server.baseUrl, { clock }).ask();
    expect(clock.skipped).toEqual([
      expect.toSatisfy((ms: number) => ms >= 250 && ms <= 500),
      expect.toSatisfy((ms: number) => ms >= 500 && ms <= 1000),
    ]);
  });

  it('is not waited where the server asks for more than is left', async () => {
    server.behave(fails(429, { headers: { 'retry-after': new Date(Date.now() + 60_000).toUTCString() } }));
    const { code, faults } = await askingAt(server.baseUrl).ask({ deadlineMs: 30_000 });
    expect({ code, faults }).toEqual({ code: 'unavailable', faults: ['rate_limited'] });
  });

  it('of an attempt is bounded by the model’s timeout', async () => {
    const clock = hastyClock();
    server.plan((call) => {
      clock.timeOut();
      return MISBEHAVIOUR.hang(call);
    });
    const { code, faults } = await askingAt(server.baseUrl, { clock }).ask();
    expect({ code, faults }).toEqual({ code: 'proposed', faults: ['timeout', null] });
    const { gone } = server.calls[0] ?? {};
    if (gone?.aborted === false) await once(gone, 'abort');
  });

  it('ends before the deadline, with the evidence of what was sent', async () => {
    const { clock, reach } = deadlineClock();
    server.behave((call) => {
      reach();
      return MISBEHAVIOUR.hang(call);
    });
    const { code, faults, settled, reserved } = await askingAt(server.baseUrl, { clock }).ask();
    expect({ code, faults }).toEqual({ code: 'deadline_exceeded', faults: ['overdue'] });
    expect(settled).toEqual(reserved);
  });

  it('ends before the deadline while the check of a proposal waits, with the evidence', async () => {
    const { clock, reach } = deadlineClock();
    const check = () => {
      reach();
      return new Promise<undefined>(() => undefined);
    };
    const outcome = await askingAt(server.baseUrl, { clock }).ask({ check });
    expect(outcome).toMatchObject({ code: 'deadline_exceeded', llm: { response: JSON.stringify(won) } });
  });

  it('of a caller that goes away ends the HTTP request', async () => {
    const leaving = new AbortController();
    server.behave((call) => {
      leaving.abort(new Error('gone'));
      return MISBEHAVIOUR.hang(call);
    });
    const { code, settled, reserved } = await askingAt(server.baseUrl).ask({}, leaving.signal);
    expect(code).toBe('gone');
    expect(settled).toEqual(reserved);
    const { gone } = server.calls[0] ?? {};
    if (gone?.aborted === false) await once(gone, 'abort');
  });
});

describe('the form of requests', () => {
  it.each(['max_tokens', 'temperature', 'seed'])(
    'does without %s where the server refuses it',
    async (parameter) => {
      server.behave(refusesParameter(parameter, says(won)));
      const { ask } = askingAt(server.baseUrl);
      expect(await ask()).toMatchObject({
        code: 'proposed',
        llm: {
          attempts: [
            { form: 'strict', status: 400 },
            { form: 'strict', status: 200 },
          ],
        },
      });
      await ask();
      expect(server.calls).toHaveLength(3);
      expect(server.calls[2]?.body).not.toHaveProperty(parameter);
      expect(server.calls[2]?.body).toHaveProperty('response_format');
    },
  );

  it.each([
    ['in the words of vLLM', 400, 'System role not supported', ['strict']],
    ['in the words of llama.cpp', 500, 'Jinja Exception: System role not supported', ['strict']],
    ['in the words of Gemini', 400, 'Developer instruction is not enabled for models/gemma-3', ['strict']],
    ['without saying so', 400, 'Bad request', ['strict', 'json', 'text']],
  ])('has no system role where the server refuses one %s', async (_how, status, reason, refused) => {
    server.behave(refusesSystemRole(says(won), status, reason));
    const { ask } = askingAt(server.baseUrl);
    const { code, llm } = await ask();
    expect(code).toBe('proposed');
    const outcomes = llm?.attempts.map((attempt) => [attempt.form, attempt.status]);
    expect(outcomes).toEqual([...refused.map((form) => [form, status]), ['strict', 200]]);
    const [asked, folded] = [server.calls[0]?.body.messages, server.calls.at(-1)?.body.messages];
    expect(asked?.map(({ role }) => role)).toEqual(['system', 'user']);
    expect(folded).toEqual([{ role: 'user', content: asked?.map(({ content }) => content).join('\n\n') }]);
    await ask();
    expect(server.calls).toHaveLength(refused.length + 2);
  });

  it('has a correction between the texts of the user where there is no system role', async () => {
    server.behave(refusesSystemRole(says(won)));
    const { ask } = askingAt(server.baseUrl);
    await ask();
    server.plan(says('HORSE_1 wins.'));
    await ask();
    expect(server.calls.at(-1)?.body.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
  });

  it('is as good as before after a server has refused all of them', async () => {
    server.behave(fails(400));
    const { ask } = askingAt(server.baseUrl);
    expect(await ask()).toMatchObject({ code: 'unavailable' });
    server.reset();
    server.behave(says(won));
    expect((await ask()).llm?.attempts.map(({ form }) => form)).toEqual(['strict']);
    expect(server.calls[0]?.body.messages[0]?.role).toBe('system');
  });

  it('is lowered for one event alone where others are served', async () => {
    const { ask } = askingAt(server.baseUrl);
    await ask();
    server.behave(refusesForms(['json_schema'], says(won)));
    await ask({ definition: raceDefinition({ hash: 'd'.repeat(64) }) });
    server.behave(says(won));
    await ask();
    expect(server.calls.map(({ body }) => body.response_format?.type)).toEqual([
      'json_schema',
      'json_schema',
      'json_object',
      'json_schema',
    ]);
  });

  it('is lowered where the server ignores it', async () => {
    const { ask } = askingAt(server.baseUrl);
    server.plan(says('HORSE_1 wins.'), says('HORSE_1 wins, I said.'));
    const formsOf = async () => (await ask()).llm?.attempts.map(({ form }) => form);
    expect(await formsOf()).toEqual(['strict', 'json', 'text']);
    expect(await formsOf()).toEqual(['text']);
  });

  it('is lowered for the model only after two events', async () => {
    const { ask } = askingAt(server.baseUrl);
    const event = (digit: string) => raceDefinition({ hash: digit.repeat(64) });
    const formsOf = async (definition: ReturnType<typeof event>) =>
      (await ask({ definition })).llm?.attempts.map(({ form }) => form);
    server.behave(says('Once upon a time.'));
    expect(await formsOf(event('a'))).toEqual(['strict', 'json', 'text']);
    expect(await formsOf(event('b'))).toEqual(['strict', 'json', 'text']);
    expect(await formsOf(event('c'))).toEqual(['text', 'text', 'text']);
    const other = askingAt(server.baseUrl);
    expect((await other.ask({ definition: event('a') })).code).toBe('ai_output_invalid');
    server.behave(says(won));
    const { llm } = await other.ask({ definition: event('d') });
    expect(llm?.attempts.map(({ form }) => form)).toEqual(['strict']);
  });

  it('is not lowered by an answer that has the strict form, with a fault in it', async () => {
    const state = { wins: null, name: null, gait: null, speed: null, tired: null, gear: 'no JSON' };
    const horse = [{ instanceId: 'HORSE_1', state, unset: [] }];
    server.plan(says({ stateChanges: { horse }, result: { winner: 'HORSE_1', time: null } }));
    const { llm } = await askingAt(server.baseUrl).ask();
    expect(llm?.attempts.map(({ form, error }) => [form, error])).toEqual([
      ['strict', 'wrong_form'],
      ['strict', null],
    ]);
  });

  it('is not lowered by an answer in JSON that is refused', async () => {
    server.plan(
      says({ 'horse:HORSE_1': { wins: -1 } }),
      completes({ message: { content: null, refusal: 'No.' } }),
    );
    const { llm } = await askingAt(server.baseUrl).ask();
    expect(llm?.attempts.map(({ form, error }) => [form, error])).toEqual([
      ['strict', 'not_allowed'],
      ['strict', 'refused'],
      ['strict', null],
    ]);
    expect(llm?.reasons[0]).toContain('wins');
  });

  it('a prompt beyond the model’s context is not sent', async () => {
    const { code, cause, llm, reserved } = await askingAt(server.baseUrl).ask({
      input: { story: 'x'.repeat(60_000) },
      model: { record: { ...modelAt('').record, contextLength: 16_384 } },
    });
    expect({ code, llm, reserved, calls: server.calls.length }).toEqual({
      code: 'prompt_too_large',
      llm: undefined,
      reserved: [],
      calls: 0,
    });
    expect(cause).toMatchObject({ facts: { section: 'input' } });
  });

  it('a prompt that the server finds too long is not asked for in another form', async () => {
    server.behave(
      fails(400, {
        body: JSON.stringify({ error: { code: 'context_length_exceeded', message: 'too long' } }),
      }),
    );
    expect(await askingAt(server.baseUrl).ask()).toMatchObject({
      code: 'prompt_too_large',
      faults: ['refused'],
    });
  });
});

describe('a server that fails', () => {
  it('is left alone for a while, for all of its models', async () => {
    server.behave(fails(500));
    const clock = hastyClock();
    const { ask } = askingAt(server.baseUrl, { clock });
    const upstreamModels = ['large-1', 'other'];
    for (let time = 0; time < FAILURES_TO_OPEN; time += 1) {
      clock.pass(FAILURE_INTERVAL_MS);
      expect((await ask({ model: { upstreamModel: upstreamModels[time % 2] ?? '' } })).faults[0]).toBe(
        'server_error',
      );
    }
    const calls = server.calls.length;
    for (const upstreamModel of upstreamModels)
      expect(await ask({ model: { upstreamModel } })).toMatchObject({
        code: 'unavailable',
        faults: [],
        cause: { facts: { reason: 'circuit_open', retryAfterSeconds: expect.toBeOneOf([15, 14, 13, 12]) } },
      });
    expect(server.calls).toHaveLength(calls);
  });

  it('is not taken for failing by what happens within a second', async () => {
    const { ask } = askingAt(server.baseUrl, { clock: { ...hastyClock(), now: () => NOW } });
    server.behave(fails(500));
    await Promise.all(Array.from({ length: 2 * FAILURES_TO_OPEN }, () => ask()));
    server.behave(says(won));
    expect((await ask()).code).toBe('proposed');
  });

  it('is not taken for failing by the deadlines of executions', async () => {
    const { clock, reach } = deadlineClock();
    const { ask } = askingAt(server.baseUrl, { clock });
    server.behave((call) => {
      reach();
      return MISBEHAVIOUR.hang(call);
    });
    for (let time = 0; time < FAILURES_TO_OPEN; time += 1) {
      clock.pass(FAILURE_INTERVAL_MS);
      expect((await ask()).code).toBe('deadline_exceeded');
    }
    server.behave(says(won));
    expect((await ask({ deadlineMs: 60_000 })).code).toBe('proposed');
  });

  it('is not taken for failing where callers go away', async () => {
    const clock = hastyClock();
    const { ask } = askingAt(server.baseUrl, { clock });
    server.behave(MISBEHAVIOUR.hang);
    for (let time = 0; time < FAILURES_TO_OPEN; time += 1) {
      clock.pass(FAILURE_INTERVAL_MS);
      const leaving = new AbortController();
      server.plan((call) => {
        leaving.abort(new Error('gone'));
        return MISBEHAVIOUR.hang(call);
      });
      expect((await ask({}, leaving.signal)).code).toBe('gone');
    }
    server.behave(says(won));
    expect((await ask()).code).toBe('proposed');
  });

  it('is not taken for failing while it refuses or limits', async () => {
    server.behave(fails(429));
    const clock = hastyClock();
    const { ask } = askingAt(server.baseUrl, { clock });
    for (let time = 0; time <= FAILURES_TO_OPEN; time += 1) {
      clock.pass(FAILURE_INTERVAL_MS);
      expect((await ask()).faults).toEqual(['rate_limited', 'rate_limited', 'rate_limited']);
    }
  });

  it('cannot be reached', async () => {
    const gone = await startModelServer();
    await gone[Symbol.asyncDispose]();
    expect(await askingAt(gone.baseUrl).ask()).toMatchObject({
      code: 'unavailable',
      faults: ['unreachable', 'unreachable', 'unreachable'],
    });
  });
});

describe('calls at once', () => {
  /** A server that answers only when so many requests are in hand. */
  const answersTogether = async (count: number) => {
    let waiting: (() => void)[] = [];
    const behaves: Profile = async (call) => {
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        if (waiting.length < count) return;
        for (const answer of waiting) answer();
        waiting = [];
      });
      await says(won)(call);
    };
    return startModelServer({ behaves });
  };

  it('are bounded for each model', async () => {
    await using own = await answersTogether(3);
    const { ask } = askingAt(own.baseUrl);
    const model = { maxConcurrency: 3 };
    const outcomes = await Promise.all(
      Array.from({ length: 12 }, (_, at) => ask({ model, deployment: `0x${at % 4}` })),
    );
    expect(new Set(outcomes.map(({ code }) => code))).toEqual(new Set(['proposed']));
    expect(own.mostAtOnce).toBe(3);
  });

  it('are bounded for each deployment', async () => {
    await using own = await answersTogether(2);
    const { ask } = askingAt(own.baseUrl, { callsPerDeployment: 1 });
    await Promise.all(Array.from({ length: 6 }, (_, at) => ask({ deployment: `0x${at % 2}` })));
    expect(own.mostAtOnce).toBe(2);
  });

  it('are not bounded by default', async () => {
    await using own = await answersTogether(20);
    const { ask } = askingAt(own.baseUrl);
    await Promise.all(Array.from({ length: 20 }, () => ask()));
    expect(own.mostAtOnce).toBe(20);
  });

  it('that wait for a slot hold no prompt', async () => {
    const { ask } = askingAt(server.baseUrl);
    const model = { maxConcurrency: 1 };
    let answer = () => {};
    const arrived = new Promise<void>((resolve) => {
      server.plan(async (call) => {
        resolve();
        await new Promise<void>((end) => {
          answer = end;
        });
        await says(won)(call);
      });
    });
    const first = ask({ model });
    await arrived;
    const made: string[] = [];
    const watched = {
      ...world,
      get promptSeed() {
        made.push('prompt');
        return world.promptSeed;
      },
    };
    const second = ask({ model, world: watched });
    const third = ask({ model, world: watched, isHolding: true });
    await new Promise(setImmediate);
    expect(made).toEqual([]);
    answer();
    expect((await Promise.all([first, second, third])).map(({ code }) => code)).toEqual([
      'proposed',
      'proposed',
      'proposed',
    ]);
    expect(made).toHaveLength(2);
  });

  it('that wait for a slot end at the deadline', async () => {
    const { clock, reach } = deadlineClock();
    const { ask } = askingAt(server.baseUrl, { clock });
    const model = { maxConcurrency: 1 };
    const leaving = new AbortController();
    const arrived = new Promise<void>((resolve) => {
      server.behave((call) => {
        resolve();
        return MISBEHAVIOUR.hang(call);
      });
    });
    const first = ask({ model, deadlineMs: 60_000 }, leaving.signal);
    await arrived;
    const second = ask({ model });
    setImmediate(reach);
    expect(await second).toMatchObject({ code: 'deadline_exceeded', faults: [], reserved: [] });
    leaving.abort(new Error('gone'));
    expect((await first).code).toBe('gone');
  });
});
