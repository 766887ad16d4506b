import { afterAll, afterEach, beforeAll, describe } from 'vitest';
import type { Bus } from '../src/index.js';
import { describeCalls } from './behaviour/calls.js';
import { describeFacts } from './behaviour/facts.js';
import { describeLargeBodies } from './behaviour/large-bodies.js';
import type { BusWorld } from './harness.js';

/** What every adapter does. Members that joined during a test are closed after it. */
export function busContract(openWorld: () => Promise<BusWorld>): void {
  let world: BusWorld;
  let joined: Bus[] = [];
  const closedAfter = (bus: Bus) => {
    joined.push(bus);
    return bus;
  };
  const open = (): BusWorld => ({
    ...world,
    join: async (service) => closedAfter(await world.join(service)),
    joinConsumer: async () => closedAfter(await world.joinConsumer()),
  });

  beforeAll(async () => {
    world = await openWorld();
  });
  afterEach(async () => {
    await Promise.all(joined.map((bus) => bus.close()));
    joined = [];
  });
  afterAll(() => world[Symbol.asyncDispose]());

  describe('calls', () => describeCalls(open));
  describe('large bodies', () => describeLargeBodies(open));
  describe('messages', () => describeFacts(open));
}
