import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { holding } from '@orrery/service-kit';
import { PATIENT } from '@orrery/testing';
import { startAnvil, temporaryFolder } from '@orrery/testing/servers';
import { repositoryRoot, type System, startAllInOne, startNode } from '@orrery/testing/system';
import { readPage } from './pasted-pages.js';

const run = promisify(execFile);
const EXAMPLE = 'docs/examples/local-chain.json';

/** A server that has all that the guides begin with. */
export interface GuideHouse extends AsyncDisposable {
  readonly system: System;
  /** The node of the guide to chains. */
  readonly chainUrl: string;
  /** Where its readers paste: `.orrery` is the server's, with the files of `npm run local-payments`. */
  readonly folder: string;
  /** The variables that the server was started with, which some commands need too. */
  readonly variables: Readonly<Record<string, string>>;
}

/** One all-in-one with the sampler, local payments and a local chain, each started as its guide says. */
export const startGuideHouse = (): Promise<GuideHouse> =>
  holding(async (resources) => {
    const folder = await temporaryFolder(resources, 'guides');
    const own = join(folder, '.orrery');
    await mkdir(own);
    const anvil = resources.use('anvil', await startAnvil());
    const args = [own];
    const payments = startNode('packages/testing/dist/payments/main.js', {}, { args });
    resources.use('local payments', payments);
    await payments.waitFor(/Ctrl-C ends it/);
    const chain = await setUpChain(folder, anvil.url);
    const env = { ...chain, PAYMENTS_FILE: join(own, 'payments.json'), SIGN_UP: 'open' };
    const started = await startAllInOne(undefined, { ...env, ORRERY_DATA_DIR: own });
    const system = resources.use('all-in-one', started);
    return { system, chainUrl: anvil.url, folder, variables: chain };
  }, PATIENT);

/** Runs the block of the guide that deploys the contract, and answers the variables with which it starts the server. */
async function setUpChain(folder: string, rpcUrl: string): Promise<Record<string, string>> {
  const [chain] = JSON.parse(await readFile(join(repositoryRoot, EXAMPLE), 'utf8'));
  const file = join(folder, 'chains.json');
  await writeFile(file, JSON.stringify([{ ...chain, rpcUrls: [rpcUrl] }]));
  const block = readPage('docs/guides/on-a-chain.md').find(({ text }) => text.includes('npm start'));
  const script = (block?.text ?? '').replace(EXAMPLE, file).replace('npm start', 'env');
  const { stdout } = await run('bash', ['-c', script], { cwd: repositoryRoot });
  if (!stdout.toLowerCase().includes(`"contract":"${chain.contract.toLowerCase()}"`))
    throw new Error(`the contract is not where ${EXAMPLE} has it:\n${stdout}`);
  const variable = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(stdout)?.[1] ?? '';
  return { CHAINS_FILE: variable('CHAINS_FILE'), LOCAL_KEY: variable('LOCAL_KEY') };
}
