import { expect, it } from 'vitest';
import { readServers } from './connection.js';

it('reads hosts, ports and credentials', () => {
  expect(readServers('nats://one')).toEqual({ servers: ['one:4222'] });
  expect(readServers('nats://us%40er:pw@one:1, nats://two:2')).toEqual({
    servers: ['one:1', 'two:2'],
    user: 'us@er',
    pass: 'pw',
  });
  expect(readServers('tls://token@one:1')).toEqual({ servers: ['one:1'], token: 'token', tls: {} });
});
