import { describe, inject, test } from 'vitest';
import type { Backend } from './provided.js';

export interface SuiteNeeds {
  /** The suite starts, kills and restarts servers itself, so a URL is not enough. */
  readonly own?: boolean;
}

type Suite = (url: string) => void;

/** A suite that needs NATS with JetStream. If there is none, it is skipped and its name says why. */
export function describeWithNats(name: string, suite: Suite, needs?: SuiteNeeds): void {
  describeWith('NATS', inject('nats'), name, suite, needs);
}

/** A suite that needs Redis. */
export function describeWithRedis(name: string, suite: Suite, needs?: SuiteNeeds): void {
  describeWith('Redis', inject('redis'), name, suite, needs);
}

function describeWith(what: string, backend: Backend, name: string, suite: Suite, needs?: SuiteNeeds): void {
  const missing = needs?.own ? backend.noOwn : backend.missing;
  if (missing === undefined) describe(name, () => suite(backend.url));
  else describe.skip(`${name} [SKIPPED, no ${what}: ${missing}]`, () => test('needs it', () => undefined));
}
