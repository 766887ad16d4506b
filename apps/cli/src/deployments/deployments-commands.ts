import { setTimeout } from 'node:timers/promises';
import { findOperatorPause, openRuntimeDatabase, requestOperatorPause } from '@orrery/runtime/operator';
import { StartupError } from '@orrery/service-kit';
import type { Command } from 'commander';
import type { CommandContext } from '../command-context.js';
import { withDatabase } from '../with-database.js';

/** How long the command waits for a running service to carry the change out, and how often it looks, in milliseconds. */
const PATIENCE_MS = 8000;
const INTERVAL_MS = 200;

/** `orrery deployments pause|resume`, for operators. The owner of the deployment cannot lift the operator's pause. */
export function addDeploymentsCommands(program: Command, context: CommandContext): void {
  const deployments = program.command('deployments').description('pause deployments and resume them');
  const what = 'the deployment, by its address or id';
  deployments
    .command('pause')
    .description('stop all executions of a deployment; its owner cannot resume it')
    .argument('<deployment>', what)
    .action((deployment: string) => setPaused(context, deployment, true));
  deployments
    .command('resume')
    .description('undo `pause`; a pause by its owner or its account stays')
    .argument('<deployment>', what)
    .action((deployment: string) => setPaused(context, deployment, false));
}

const setPaused = ({ env, write }: CommandContext, deployment: string, paused: boolean): Promise<void> =>
  withDatabase(env, openRuntimeDatabase, async (db) => {
    const found = await findOperatorPause(db, deployment);
    if (found === undefined) throw new StartupError(`There is no deployment ${deployment}.`);
    const { id, address } = found;
    const isDone = async () => (await findOperatorPause(db, address))?.isPaused === paused;
    await requestOperatorPause(db, id, paused);
    const until = Date.now() + PATIENCE_MS;
    while (!(await isDone()) && Date.now() < until) await setTimeout(INTERVAL_MS);
    const state = paused ? 'paused' : 'no longer paused';
    write(
      (await isDone())
        ? `deployment ${address} is ${state} by the operator`
        : `deployment ${address} is ${state} by the operator as soon as a runtime runs`,
    );
  });
