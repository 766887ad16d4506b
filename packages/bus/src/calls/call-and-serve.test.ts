import { defineContract, rpc, ServiceError } from '@orrery/contracts';
import { systemClock } from '@orrery/service-kit';
import { expect, it } from 'vitest';
import { z } from 'zod';
import type { Exchange, Frame } from '../ports/transport.js';
import { errorFrame } from '../wire/wire-format.js';
import { createCall, serviceCall } from './call-and-serve.js';

// Old and new processes serve side by side during an upgrade, so each end removes the fact by itself.

const nested = { code: 'unavailable', detail: 'Away.', errors: [], facts: { reached: false, of: 'catalog' } };

it('an error frame never says that its process was not reached', () => {
  const error = new ServiceError('unavailable', nested.detail, { facts: nested.facts });
  expect(JSON.parse(errorFrame(error).body)).toEqual({ ...nested, facts: { of: 'catalog' } });
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
