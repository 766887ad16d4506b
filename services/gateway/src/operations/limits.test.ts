import { DEFAULT_CONTENT_LIMITS } from '@orrery/contracts';
import { describe, expect, it } from 'vitest';
import { readGatewayConfig } from '../config.js';
import type { GatewayCall } from '../core/requests/operation.js';
import { limitHandlers } from './limits.js';

const asked: string[] = [];
const bus = {
  call: async ({ name }: { name: string }) => {
    asked.push(name);
    return { of: name };
  },
} as unknown as Parameters<typeof limitHandlers>[0];
const limitsWith = async (env: Record<string, string>) =>
  (await limitHandlers(bus, readGatewayConfig(env))['limits.get']({} as never, {} as GatewayCall)).data;

describe('the limits in force', () => {
  it('are those of the gateway and what the services say', async () => {
    expect(
      await limitsWith({ BODY_LIMIT: '2048', MAX_JSON_DEPTH: '8', RATE_AUTH_PER_MINUTE: '7' }),
    ).toMatchObject({
      requests: { bodyBytes: 2048, jsonDepth: 8, pageEntries: 100, rates: { signInPerAddressPerMinute: 7 } },
      definitions: { of: 'limits.ofDefinitions' },
      deployments: { of: 'limits.ofDeployments' },
      timers: { pendingPerDeployment: 10_000, shortestDelaySeconds: 1, longestDelaySeconds: 315_360_000 },
      webhooks: { perDeployment: 20 },
    });
    expect(asked).toEqual(['limits.ofDefinitions', 'limits.ofDeployments']);
  });

  it('have no rates where none are limited', async () => {
    expect(await limitsWith({ RATE_LIMITS: 'off' })).toMatchObject({ requests: { rates: null } });
  });
});

it('a gateway reads what bodies may hold, with all problems at once', () => {
  expect(readGatewayConfig({}).contentLimits).toEqual(DEFAULT_CONTENT_LIMITS);
  expect(() => readGatewayConfig({ PORT: 'x', MAX_INPUT_KIB: '0' })).toThrow(/PORT.*MAX_INPUT_KIB/s);
});
