import type { Socket } from 'node:net';
import { ServiceError } from '@orrery/contracts';
import type { FastifyInstance } from 'fastify';
import { clientSubject, type ProxyTrust } from '../../core/clients/clients.js';
import type { OnRequestEnd } from '../server/http-server.js';
import { ALWAYS_ADMITTED } from './requests.js';

export interface ConnectionLimits {
  /** Connections of this process; further ones are closed at once. */
  maxConnections: number;
  /** Connections of one client address; behind a trusted proxy its requests. Loopback is not limited. */
  maxPerAddress: number;
  trustProxy: ProxyTrust;
}

/**
 * No client address takes all connections: its further ones are closed at once. The connections of a trusted proxy are
 * those of many clients, so there the requests of each client that arrive or run are bounded instead, with 503.
 */
export function limitConnections(
  app: FastifyInstance,
  onRequestEnd: OnRequestEnd,
  { maxConnections, maxPerAddress, trustProxy }: ConnectionLimits,
): void {
  const isProxy = (address: string) => trustProxy !== false && trustProxy(address, 0);
  const connections = countPerAddress(maxPerAddress);
  app.server.maxConnections = maxConnections;
  app.server.on('connection', (socket: Socket) => {
    const { remoteAddress } = socket;
    if (remoteAddress === undefined || isProxy(remoteAddress)) return;
    if (connections.take(remoteAddress)) socket.once('close', () => connections.give(remoteAddress));
    else socket.destroy();
  });
  if (trustProxy === false) return;
  const requests = countPerAddress(maxPerAddress);
  const counted = new WeakSet<object>();
  app.addHook('onRequest', (request, _reply, done) => {
    if (ALWAYS_ADMITTED.test(request.url)) return done();
    if (!requests.take(request.ip)) return done(tooMany());
    counted.add(request);
    done();
  });
  onRequestEnd((request) => {
    if (counted.has(request)) requests.give(request.ip);
  });
}

const tooMany = () =>
  new ServiceError('overloaded', 'Too many requests of this address are under way.', {
    facts: { reached: false },
  });

/** Counts by client, an IPv6 client being a whole /64. */
function countPerAddress(max: number) {
  const counts = new Map<string, number>();
  return {
    /** False, and not counted, when the address has `max` already. */
    take(address: string): boolean {
      const subject = clientSubject(address);
      const count = counts.get(subject) ?? 0;
      if (count >= max && !isLoopback(subject)) return false;
      counts.set(subject, count + 1);
      return true;
    },
    give(address: string): void {
      const subject = clientSubject(address);
      const count = counts.get(subject) ?? 0;
      if (count > 1) counts.set(subject, count - 1);
      else counts.delete(subject);
    },
  };
}

/** `::1` counts as its /64, of which nothing else is in use. */
const isLoopback = (subject: string): boolean => subject.startsWith('127.') || subject === '0:0:0:0::/64';
