import {
  askElsewhere,
  type DirectoryDb,
  findElsewhere,
  findOperatorPause,
  isDoneElsewhere,
  requestOperatorPause,
} from '@orrery/runtime/operator';
import { StartupError } from '@orrery/service-kit';
import type { CommandContext } from '../terminal/context.js';
import { poll } from '../terminal/poll.js';
import { openHome } from './open-home.js';
import { withDatabase } from './with-database.js';

/** How long the command waits for a running service to carry the change out. */
const WAITING = { forMs: 8000, everyMs: 200 };

/** Pauses a deployment as the operator, whose pause its owner cannot lift, or ends that pause. */
export const setOperatorPause = (
  { env, write }: CommandContext,
  deployment: string,
  paused: boolean,
  { json }: { readonly json?: true } = {},
): Promise<void> =>
  withDatabase(env, openHome(env), async ({ runtime: db, directory }) => {
    const found = await findOperatorPause(db, deployment);
    if (found === undefined) return write(told(await pauseElsewhere(directory, deployment, paused), json));
    const { id, address } = found;
    await requestOperatorPause(db, id, paused);
    const isDone = (pause: typeof found | undefined) => pause?.isPaused === paused;
    const last = await poll(() => findOperatorPause(db, address), isDone, WAITING);
    write(told({ address, isPausedByOperator: paused, isDone: isDone(last) }, json));
  });

interface Outcome {
  readonly address: string;
  readonly isPausedByOperator: boolean;
  /** False: it becomes so as soon as a runtime runs. */
  readonly isDone: boolean;
}

function told(outcome: Outcome, json: true | undefined): string {
  if (json === true) return JSON.stringify(outcome, null, 2);
  const { address, isPausedByOperator, isDone } = outcome;
  return `deployment ${address} is ${isPausedByOperator ? 'paused' : 'no longer paused'} by the operator${isDone ? '' : ' as soon as a runtime runs'}`;
}

/** Of a deployment that lives in another database, whose runtimes read the directory. @throws StartupError */
async function pauseElsewhere(directory: DirectoryDb, deployment: string, paused: boolean): Promise<Outcome> {
  const found = await findElsewhere(directory, deployment);
  if (found === undefined)
    throw new StartupError(
      `There is no deployment ${deployment} in the database. As its owner write WORLD/DEPLOYMENT.`,
    );
  await askElsewhere(directory, found.id, paused);
  const isDone = await poll(
    () => isDoneElsewhere(directory, found.id),
    (done) => done,
    WAITING,
  );
  return { address: found.address, isPausedByOperator: paused, isDone };
}
