import { findOperatorPause, openRuntimeDatabase, requestOperatorPause } from '@orrery/runtime/operator';
import { StartupError } from '@orrery/service-kit';
import type { CommandContext } from '../terminal/context.js';
import { poll } from '../terminal/poll.js';
import { withDatabase } from './with-database.js';

/** How long the command waits for a running service to carry the change out. */
const WAITING = { forMs: 8000, everyMs: 200 };

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
    await requestOperatorPause(db, id, paused);
    const isDone = (pause: typeof found | undefined) => pause?.isPaused === paused;
    const last = await poll(() => findOperatorPause(db, address), isDone, WAITING);
    const state = paused ? 'paused' : 'no longer paused';
    const when = isDone(last) ? '' : ' as soon as a runtime runs';
    write(`deployment ${address} is ${state} by the operator${when}`);
  });
