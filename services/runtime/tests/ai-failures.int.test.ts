import {
  MISBEHAVIOUR,
  type ModelServer,
  type Profile,
  refusesForms,
  says,
  startModelServer,
} from '@orrery/testing/model-server';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { askingAt, hastyClock } from './ai-question.js';

const server: ModelServer = await startModelServer();
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(() => server.reset());

const won = { stateChanges: { 'horse:HORSE_1': { wins: 4 } }, result: { winner: 'HORSE_1' } };

/** The steps of the ladder, each by a server that takes nothing better. */
const STEPS = {
  strict: [],
  json: ['json_schema'],
  text: ['json_schema', 'json_object'],
} as const;
type Step = keyof typeof STEPS;

/** What becomes of an execution whose model's server always behaves in one way, and what each of its attempts says. */
interface Outcome {
  readonly code: string;
  readonly attempts: readonly string[];
}
const thrice = (code: string, attempt: string): Outcome => ({ code, attempts: [attempt, attempt, attempt] });
const invalid = (fault: string) => thrice('ai_output_invalid', fault);

const OUTCOMES: Record<keyof typeof MISBEHAVIOUR, Outcome> = {
  'rate limit': thrice('unavailable', 'rate_limited'),
  'rate limit with retry-after': thrice('unavailable', 'rate_limited'),
  'rate limit for an hour': { code: 'unavailable', attempts: ['rate_limited'] },
  'server error': thrice('unavailable', 'server_error'),
  'bad gateway': thrice('unavailable', 'server_error'),
  'wrong key': { code: 'unavailable', attempts: ['refused'] },
  redirect: thrice('unavailable', 'server_error'),
  hang: thrice('deadline_exceeded', 'timeout'),
  'slow drip': thrice('deadline_exceeded', 'timeout'),
  'disconnect before the answer': thrice('unavailable', 'broken_answer'),
  'disconnect mid-answer': thrice('unavailable', 'broken_answer'),
  '50 MB': invalid('too_large'),
  'body is no JSON': thrice('unavailable', 'broken_answer'),
  'body is HTML': thrice('unavailable', 'broken_answer'),
  'no choices': thrice('unavailable', 'broken_answer'),
  'invalid JSON': invalid('not_json'),
  'prose around JSON': invalid('not_json'),
  'prose in a fence': invalid('not_json'),
  'wrong keys': invalid('not_allowed'),
  'keys without a colon': invalid('wrong_form'),
  'a list': invalid('wrong_form'),
  'a text': invalid('wrong_form'),
  empty: invalid('empty'),
  'no content': invalid('empty'),
  refusal: invalid('refused'),
  'content filter': invalid('refused'),
  'tool call': invalid('tool_call'),
  'cut off': invalid('cut_off'),
  'U+0000': invalid('unsafe_json'),
  'lone surrogate': invalid('unsafe_json'),
  __proto__: invalid('unsafe_json'),
  '1e400': invalid('unsafe_json'),
  'depth 100,000': invalid('too_large'),
  'text of 2 MB': invalid('too_large'),
};

/** The time of a request to a server that does not end its answer is over at once. */
const behaving =
  (profile: keyof typeof MISBEHAVIOUR, clock: ReturnType<typeof hastyClock>): Profile =>
  (call) => {
    if (OUTCOMES[profile].attempts.includes('timeout')) clock.timeOut();
    return MISBEHAVIOUR[profile](call);
  };

const profiles = Object.keys(OUTCOMES) as (keyof typeof MISBEHAVIOUR)[];
const table = profiles.flatMap((profile) =>
  (Object.keys(STEPS) as Step[]).map((step) => ({ profile, step })),
);

/** Failures of the server, and one answer of each kind that goes back. */
const PASSING = profiles.filter(
  (profile) =>
    OUTCOMES[profile].code !== 'ai_output_invalid' || ['50 MB', 'cut off', 'empty'].includes(profile),
);

describe('a server that misbehaves', () => {
  it.each(table)('$profile, asked for $step', async ({ profile, step }) => {
    const clock = hastyClock();
    const { ask, logged } = askingAt(server.baseUrl, { clock });
    // The ladder is gone down before: what is seen here is one step of it.
    server.behave(refusesForms(STEPS[step], says(won)));
    expect(await ask()).toMatchObject({ code: 'proposed' });
    server.reset();
    server.behave(behaving(profile, clock));
    const outcome = await ask();
    expect({ code: outcome.code, attempts: outcome.faults }).toEqual(OUTCOMES[profile]);
    expect(server.calls).toHaveLength(outcome.faults.length);
    expect(outcome.settled).toHaveLength(outcome.reserved.length);
    for (const { bytesWritten } of server.calls) expect(bytesWritten()).toBeLessThan(8 * 1024 * 1024);
    expect(JSON.stringify([outcome, logged])).not.toContain('sk-secret');
  });

  it.each(PASSING)('once, and then behaves: %s', async (profile) => {
    const clock = hastyClock();
    server.behave(says(won));
    server.plan(behaving(profile, clock));
    const { ask } = askingAt(server.baseUrl, { clock });
    const outcome = await ask();
    const isFinal = OUTCOMES[profile].attempts.length === 1;
    expect(outcome.code).toBe(isFinal ? OUTCOMES[profile].code : 'proposed');
    if (!isFinal) expect(outcome.faults).toEqual([OUTCOMES[profile].attempts[0], null]);
  });
});
