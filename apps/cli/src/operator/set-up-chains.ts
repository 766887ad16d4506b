import {
  readChain,
  readChainPusherConfig,
  readSigningChain,
  type SigningChain,
} from '@orrery/chain-pusher/config';
import {
  adoptionOutcome,
  deployRegistry,
  findLane,
  listWaiting,
  openChain,
  openChainPusherDatabase,
  requestAdoption,
} from '@orrery/chain-pusher/operator';
import { StartupError, systemClock } from '@orrery/service-kit';
import type { CommandContext } from '../terminal/context.js';
import { formatRows } from '../terminal/format-rows.js';
import { poll } from '../terminal/poll.js';
import { withDatabase } from './with-database.js';

export interface DeployCommand {
  chain: string;
  owner?: string;
  json?: true;
}

/** How long an adoption is waited for. */
const WAITING = { forMs: 15_000, everyMs: 200 };

export async function deploy({ env, write }: CommandContext, { chain: name, owner, json }: DeployCommand) {
  const { chain, signerKey } = readSigningChain(env, name);
  if (chain.family !== 'evm') throw new StartupError(`${name} needs no contract: it is no EVM chain.`);
  const { signal } = new AbortController();
  const deploying = deployRegistry(chain, signerKey, systemClock, signal, { owner });
  const contract = await deploying.catch((error: Error) => {
    throw new StartupError(sentence(error.message), { cause: error });
  });
  if (json) return write(JSON.stringify({ contract }));
  write(`registry deployed: set "contract" of ${name} to ${contract}`);
  if (owner === undefined) write(OWNED_BY_SIGNER);
}

const OWNED_BY_SIGNER =
  'Its owner is the signer, whose key the server holds. Where others rely on the contract, deploy it with --owner.';

export async function check({ env, write }: CommandContext, { json }: { json?: true }) {
  const { chains } = readChainPusherConfig(env);
  if (chains.length === 0) throw new StartupError('There are no chains: set CHAINS_FILE.');
  const found = await Promise.all(chains.map(checkOne));
  write(
    json
      ? JSON.stringify(found)
      : formatRows(found, ['name', 'caip2', 'signer', 'balance', 'status', 'reason']),
  );
}

async function checkOne(one: SigningChain) {
  const { name, caip2 } = one.chain;
  const port = await openChain(one);
  const { signal } = new AbortController();
  const found = await port.check(signal).catch((error: Error) => ({ reason: error.message, balance: null }));
  const status = found.reason === null ? 'available' : 'unavailable';
  return { name, caip2, signer: port.signer, balance: found.balance, status, reason: found.reason };
}

export const waiting = ({ env, write }: CommandContext, { json }: { json?: true }) =>
  withDatabase(env, openChainPusherDatabase, async (db) => {
    const found = await listWaiting(db);
    if (json) return write(JSON.stringify(found));
    const rows = found.map((row) => ({ ...row, since: row.since?.toISOString() ?? '' }));
    const columns = ['chain', 'nonce', 'deployment', 'numbers', 'since', 'waitsFor'];
    write(rows.length === 0 ? 'nothing waits' : formatRows(rows, columns));
  });

export async function adopt({ env, write }: CommandContext, options: { chain: string; deployment: string }) {
  const deployment = options.deployment.toLowerCase();
  if (!/^0x[\da-f]{40}$/.test(deployment))
    throw new StartupError('--deployment takes the address of a deployment: 0x and 40 hex digits.');
  const chain = readChain(env, options.chain).name;
  await withDatabase(env, openChainPusherDatabase, async (db) => {
    if ((await findLane(db, deployment, chain)) === undefined) {
      throw new StartupError(`Nothing of ${deployment} was ever to be pushed to ${chain}.`);
    }
    await requestAdoption(db, deployment, chain);
    const outcome = await poll(
      () => adoptionOutcome(db, deployment, chain),
      (found) => found !== undefined,
      WAITING,
    );
    write(`${deployment} on ${chain} ${outcome ?? underWay(await findLane(db, deployment, chain))}`);
  });
}

const underWay = (lane: { stop: string | null } | undefined): string =>
  lane?.stop === 'adopting'
    ? 'is being adopted; it goes on by itself'
    : 'is adopted as soon as a chain-pusher reaches the chain';

const sentence = (text: string): string => (text.endsWith('.') ? text : `${text}.`);
