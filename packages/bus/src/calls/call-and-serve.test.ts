import { defineContract, rpc, ServiceError } from '@orrery/contracts';
import { createLogger, systemClock } from '@orrery/service-kit';
import { expect, it, vi } from 'vitest';
import { z } from 'zod';
import type { Answer, Exchange, Frame } from '../ports/transport.js';
import { errorFrame } from '../wire/wire-format.js';
import { createCall, createServe, serviceCall } from './call-and-serve.js';

// Old and new processes serve side by side during an upgrade, so each end removes the fact by itself.

const nested = { code: 'unavailable', detail: 'Away.', errors: [], facts: { reached: false, of: 'catalog' } };

it('an error frame never says that its process was not reached', () => {
  const error = new ServiceError('unavailable', nested.detail, { facts: nested.facts });
  const told = { ...nested, facts: { of: 'catalog' }, status: 503 };
  expect(JSON.parse(errorFrame(error).body)).toEqual(told);
});

it('a caller does not believe an error frame that says so', async () => {
  const { rpcs } = defineContract('echo', {
    'echo.say': rpc({
      request: z.strictObject({}),
      reply: z.strictObject({}),
      errors: [],
      access: { scope: 'none', relation: 'internal' },
    }),
  });
  const reply: Frame = { headers: { 'orrery-error': nested.code }, body: JSON.stringify(nested) };
  const exchange = { request: async () => reply } as unknown as Exchange;
  const call = createCall(exchange, { service: 'echo', clock: systemClock });
  const failed = call(rpcs['echo.say'], {}, serviceCall('test', systemClock, 1000));
  await expect(failed).rejects.toMatchObject({ code: 'unavailable', facts: { of: 'catalog' } });
  await expect(failed).rejects.not.toHaveProperty('facts.reached');
});

/** What the serving end writes of a reply. */
async function written(reply: object): Promise<string> {
  const contract = defineContract('echo', {
    'echo.say': rpc({
      request: z.strictObject({}),
      reply: z.looseObject({ data: z.unknown() }),
      errors: [],
      access: { scope: 'none', relation: 'internal' },
    }),
  });
  let answers = new Map<string, Answer>();
  const exchange = {
    respond: async (_service: string, served: Map<string, Answer>) => {
      answers = served;
    },
  } as unknown as Exchange;
  const logger = createLogger({ service: 'echo', level: 'silent' });
  const serve = createServe(exchange, { service: 'echo', clock: systemClock, logger });
  await serve(contract, { 'echo.say': async () => reply } as never);
  const sent: Frame[] = [];
  const request = async (subject: string, frame: Frame) => {
    const answer = answers.get(subject);
    if (answer === undefined) throw new Error(subject);
    const reply = await answer(frame, new AbortController());
    sent.push(reply);
    return reply;
  };
  const call = createCall({ request } as unknown as Exchange, { service: 'echo', clock: systemClock });
  await call(contract.rpcs['echo.say'], {}, serviceCall('test', systemClock, 60_000));
  return sent[0]?.body ?? '';
}

it.each([
  [{ data: [] }],
  [{ data: [1, 'a', null, { b: [2] }], pagination: { page: 1 }, isMoving: true }],
  [{ data: [{}, {}] }],
  [{ data: { a: 1 }, etag: '7' }],
])('writes a list as it writes everything: %j', async (reply) => {
  expect(await written(reply)).toBe(JSON.stringify(reply));
});

it('lets others have their turn while it writes a long list', async () => {
  // A clock of the test's own: each look at it finds 6 ms gone, so every second item ends a turn of 10 ms.
  let now = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 6));
  let turns = 0;
  const count = () => {
    turns += 1;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  const data = Array.from({ length: 50 }, (_, at) => ({ at }));
  const body = await written({ data });
  clearImmediate(counting);
  clock.mockRestore();
  expect(body).toBe(JSON.stringify({ data }));
  expect(turns).toBeGreaterThan(5);
});
