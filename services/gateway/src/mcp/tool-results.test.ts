import { ServiceError } from '@orrery/contracts';
import { createLogger } from '@orrery/service-kit';
import { expect, it } from 'vitest';
import { answering, refuseLarge } from './tool-results.js';

it('refuses what is too large for an agent', () => {
  expect(() => refuseLarge('x'.repeat(1024 * 1024))).not.toThrow();
  expect(() => refuseLarge('x'.repeat(1024 * 1024 + 1))).toThrow('more than 1024 KiB');
});

it('logs why a tool failed inside, and tells the agent nothing of it', async () => {
  const lines: string[] = [];
  const logger = createLogger({ service: 'gateway', destination: { write: (line) => lines.push(line) } });
  const http = { url: '/mcp', id: 'r1', routeOptions: {}, raw: { socket: {} } } as never;
  const answer = async (error: Error) =>
    JSON.stringify(await answering({ http }, { logger }, () => Promise.reject(error)));
  expect(await answer(new TypeError('secret path'))).not.toContain('secret path');
  expect(lines.join()).toMatch(/"requestId":"r1".*"code":"internal".*secret path/);
  expect(await answer(new ServiceError('event_not_bound'))).toContain('event_not_bound');
  expect(lines).toHaveLength(1);
});
