import { setTimeout } from 'node:timers/promises';
import { findOperatorPause, openRuntimeDatabase, requestOperatorPause } from '@orrery/runtime/operator';
import { StartupError } from '@orrery/service-kit';
import type { CommandContext } from '../command-context.js';
import { withDatabase } from '../with-database.js';

/** How long the command waits for a running service to carry the change out, and how often it looks, in milliseconds. */
const PATIENCE_MS = 8000;
const INTERVAL_MS = 200;

/** Pauses a deployment as the operator, whose pause its owner cannot lift, or ends that pause. */
export const setOperatorPause = (
  { env, write }: CommandContext,
  deployment: string,
  paused: boolean,
): Promise<void> =>
  withDatabase(env, openRuntimeDatabase, async (db) => {
    const found = await findOperatorPause(db, deployment);
    if (found === undefined)
      throw new StartupError(
        `There is no deployment ${deployment} in the database. As its owner write WORLD/DEPLOYMENT.`,
      );
    const { id, address } = found;
    const isDone = async () => (await findOperatorPause(db, address))?.isPaused === paused;
    await requestOperatorPause(db, id, paused);
    const until = performance.now() + PATIENCE_MS;
    while (!(await isDone()) && performance.now() < until) await setTimeout(INTERVAL_MS);
    const state = paused ? 'paused' : 'no longer paused';
    write(
      (await isDone())
        ? `deployment ${address} is ${state} by the operator`
        : `deployment ${address} is ${state} by the operator as soon as a runtime runs`,
    );
  });
