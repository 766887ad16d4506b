import { type NodeProcess, startNode } from '@orrery/testing/system';

/** An all-in-one on a folder that outlives it, so that a test can start it again. */
export interface Started {
  readonly process: NodeProcess;
  readonly url: string;
  readonly key: string;
}

/** Variables with which the built all-in-one keeps everything in `dataDirectory` and listens on a free port. */
export const allInOneVariables = (dataDirectory: string, env: Record<string, string> = {}) => ({
  PORT: '0',
  ORRERY_DATA_DIR: dataDirectory,
  ...env,
});

export const runAllInOne = (dataDirectory: string, env: Record<string, string> = {}): NodeProcess =>
  startNode('apps/standalone/dist/bundle/main.js', allInOneVariables(dataDirectory, env));

/** Resolves when it has said all that it says to a newcomer. */
export async function startHere(dataDirectory: string, env: Record<string, string> = {}): Promise<Started> {
  const process = runAllInOne(dataDirectory, env);
  await process.waitFor(/Ctrl-C ends it/);
  const [, url = ''] = await process.waitFor(/runs at (http:\S+)/);
  const [key] = await process.waitFor(/orrery_\w{61}/);
  return { process, url, key };
}
