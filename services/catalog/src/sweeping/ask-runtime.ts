import { randomUUID } from 'node:crypto';
import type { Bus } from '@orrery/bus';
import { runtimeContract } from '@orrery/contracts';
import type { Clock } from '@orrery/service-kit';
import type { AskHeld } from './sweep-claims.js';

const TIMEOUT_MS = 10_000;

/** The runtime answers for its deployments. */
export const askRuntime =
  (bus: Bus, clock: Clock): AskHeld =>
  (asked, signal) =>
    bus.call(runtimeContract.rpcs['references.held'], asked, {
      caller: { kind: 'service', service: 'catalog' },
      requestId: randomUUID(),
      deadline: clock.now() + TIMEOUT_MS,
      signal,
    });
