import { startedAt } from './process-facts.js';

/**
 * The launcher that a server belongs to stands in the server's own command line (PostgreSQL accepts any setting
 * with a dot in its name), so pid file, server and owner can never be read apart.
 */
const setting = 'orrery.owner';

/** The argument that names this process as the owner. */
export async function ownerArgument(): Promise<string> {
  return `${setting}=${process.pid}:${await startedAt(process.pid)}`;
}

/** The pid of the living owner named in a server's command line; `undefined`: it is gone; `null`: none is named. */
export async function livingOwner(command: string): Promise<number | undefined | null> {
  const named = /orrery\.owner=(\d+):(\S+)/.exec(command);
  if (named === null) return null;
  const pid = Number(named[1]);
  return (await startedAt(pid)) === named[2] ? pid : undefined;
}
