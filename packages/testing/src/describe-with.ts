import { describe, inject, test } from 'vitest';
import type { Backend } from './provided.js';

/** A suite that needs NATS with JetStream; without one, its name says that and why it was skipped. */
export function describeWithNats(name: string, suite: (url: string) => void): void {
  describeWith('NATS', inject('nats'), name, suite);
}

/** A suite that needs Redis. */
export function describeWithRedis(name: string, suite: (url: string) => void): void {
  describeWith('Redis', inject('redis'), name, suite);
}

function describeWith(what: string, backend: Backend, name: string, suite: (url: string) => void): void {
  const { url, missing } = backend;
  if (url !== undefined) describe(name, () => suite(url));
  else describe.skip(`${name} (SKIPPED, no ${what}: ${missing})`, () => test('needs it', () => undefined));
}
