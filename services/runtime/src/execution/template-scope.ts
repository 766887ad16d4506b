import type { JsonValue } from '@orrery/contracts';
import type { ExecutionRun } from './execute-event.js';
import type { ReadSet } from './read-entities.js';

/** What the names of a direct template stand for (decisions §4 "Templates"); `unix` is whole seconds. */
export function templateScope(run: ExecutionRun, { entities }: ReadSet): Record<string, JsonValue> {
  const timestamp = new Date(run.now).toISOString();
  return {
    input: run.input,
    entities,
    walletAddress: run.walletAddress,
    timestamp,
    date: timestamp.slice(0, 10),
    unix: Math.floor(run.now / 1000),
    deployment: run.deployment.address,
    event: run.event,
    world: run.deployment.worldAddress,
  };
}
