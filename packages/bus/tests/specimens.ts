import { defineContract, defineMessage, type Handlers, rpc } from '@orrery/contracts';
import { z } from 'zod';

const access = { scope: 'none', relation: 'internal' } as const;

/** A contract of the tests' own: what the bus does must not depend on any service. */
export const echoContract = defineContract('echo', {
  'echo.say': rpc({
    request: z.strictObject({ text: z.string(), times: z.int().min(1).default(1) }),
    reply: z.strictObject({ said: z.string(), by: z.string().default('nobody') }),
    errors: ['limit_reached'],
    access,
  }),
  'echo.large': rpc({
    request: z.strictObject({ text: z.string(), answerBytes: z.int() }),
    reply: z.strictObject({ received: z.int(), text: z.string() }),
    errors: [],
    access,
  }),
});

export const say = echoContract.rpcs['echo.say'];
export const large = echoContract.rpcs['echo.large'];

export type EchoHandlers = Handlers<{
  'echo.say': (typeof echoContract.rpcs)['echo.say'];
  'echo.large': (typeof echoContract.rpcs)['echo.large'];
}>;

export const echoHandlers = (overrides: Partial<EchoHandlers> = {}): EchoHandlers => ({
  'echo.say': async ({ text, times }) => ({ said: text.repeat(times) }),
  'echo.large': async ({ text, answerBytes }) => ({ received: text.length, text: 'x'.repeat(answerBytes) }),
  ...overrides,
});

const lap = z.strictObject({ horse: z.string(), number: z.int() });
export const lapRun = defineMessage('racing', 'lapRun', lap);
export const raceCalled = defineMessage('racing', 'raceCalled', lap);
