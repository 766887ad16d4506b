import { randomUUID } from 'node:crypto';
import { type Bus, connectBus, createInProcessHub } from '@orrery/bus';
import { type ChainPusherConfig, startChainPusher } from '@orrery/chain-pusher';
import type { SigningChain } from '@orrery/chain-pusher/config';
import {
  adoptionOutcome,
  openChain,
  openChainPusherDatabase,
  requestAdoption,
} from '@orrery/chain-pusher/operator';
import {
  type AccountState,
  accountChanged,
  accountContract,
  type ChainConfig,
  type ChainFile,
  chainContract,
  chainFile,
  type ReplyOf,
  type RequestOf,
} from '@orrery/contracts';
import { createHealth, createLogger, Resources, systemClock } from '@orrery/service-kit';
import { createTestDatabase, PATIENT } from '@orrery/testing';
import { ANVIL_KEYS } from '@orrery/testing/servers';
import { sql } from 'kysely';
import { expect, onTestFinished, vi } from 'vitest';
import type { ChainPort } from '../src/core/chains/chain-port.js';
import type { Resolve } from '../src/delivering/connect-to.js';
import { type FakeRuntime, OWNER, startFakeRuntime } from './fake-runtime.js';

type Rpcs = typeof chainContract.rpcs;

export const OTHER = 2;
/** A chain as the file of chains would have it, with anvil's first key. */
export const chainOf = (
  chain: ChainFile[number],
  signerKey: string = ANVIL_KEYS[0],
): ChainPusherConfig['chains'][number] => ({
  chain: chainFile.parse([chain])[0] as ChainConfig,
  signerKey,
});

/** Sends again and replaces sooner than in earnest; what is never replaced (Solana) is not. */
const openImpatiently = async (chain: SigningChain): Promise<ChainPort> => {
  const { delays } = await openChain(chain);
  const replaceMs = Number.isFinite(delays.replaceMs) ? 600 : delays.replaceMs;
  return openChain(chain, { resendMs: 150, replaceMs, retryMs: 30 });
};

/** A chain that is not there. */
export const deadChain = chainOf({
  name: 'local',
  caip2: 'eip155:31337',
  family: 'evm',
  rpcUrls: ['http://127.0.0.1:9'],
  signerKeyEnv: 'KEY',
});

/**
 * A database, a bus and journals for one test; chain-pushers are started on them. `before`: the runtime of another house,
 * whose journals are served here as well.
 */
export async function prepareHouse(before?: FakeRuntime) {
  const resources = new Resources(PATIENT);
  onTestFinished(() => resources.release());
  const logger = createLogger({ service: 'test', level: 'silent' });
  const clock = systemClock;
  const { url: databaseUrl } = resources.use('test database', await createTestDatabase());
  const hub = createInProcessHub({ logger, clock });
  const busOf = async (service: string) => {
    const bus = await connectBus({ url: 'inprocess', hub, service, logger, clock });
    resources.add(`bus of ${service}`, () => bus.close());
    return bus;
  };
  const runtime = await startFakeRuntime(await busOf('runtime'), before?.journals);
  const accounts = new Map<number, AccountState>();
  const gateway = await busOf('gateway');
  await gateway.serve(accountContract, {
    'accounts.states': async ({ afterId }) => ({
      states: [...accounts.values()].filter(({ accountId }) => accountId > afterId),
    }),
  });
  const standBy = oneReader();
  const boot = (...chains: ChainPusherConfig['chains']) => bootWith({ chains });
  const bootWith = async ({ chains = [], webhooks }: Partial<ChainPusherConfig>, resolveName?: Resolve) => {
    const bus = standBy(await busOf('chain-pusher'));
    const health = createHealth({ clock });
    const dependencies = {
      ...{ databaseUrl, bus, clock, logger, health, openChain: openImpatiently },
      ...(resolveName && { resolveName }),
    };
    const config = { chains, leaseTtlMs: 2000, pollMs: 50, ...(webhooks && { webhooks }) };
    return resources.use('chain-pusher', await startChainPusher(dependencies, config));
  };
  const call = <Name extends keyof Rpcs>(
    name: Name,
    request: Partial<RequestOf<Rpcs[Name]>> | object,
    accountId = OWNER,
  ): Promise<ReplyOf<Rpcs[Name]>> =>
    gateway.call(
      chainContract.rpcs[name],
      { params: {}, query: {}, headers: {}, body: {}, ...request } as never,
      {
        caller: { kind: 'account', accountId, scopes: ['read', 'write', 'execute'] },
        requestId: randomUUID(),
        deadline: Date.now() + 240_000,
      },
    ) as Promise<ReplyOf<Rpcs[Name]>>;
  const pushes = async (deployment: string, query: object = {}, accountId = OWNER) =>
    call('pushes.list', { params: { worldAddress: '1', address: deployment }, query }, accountId);
  /** Tells everyone about an account. */
  const announce = (state: AccountState) => gateway.publish(accountChanged, state, { id: randomUUID() });
  /** As the command `orrery chains adopt` does. */
  const adopt = async (deployment: string, chain: string) => {
    await using database = await openChainPusherDatabase({ databaseUrl, logger, maxConnections: 1 });
    await requestAdoption(database.db, deployment, chain);
    return await vi.waitFor(async () => {
      const outcome = await adoptionOutcome(database.db, deployment, chain);
      if (outcome === undefined) throw new Error('the adoption is under way');
      return outcome;
    });
  };
  /** Waits until the intake has seen that the deployment's journal lost entries. */
  const lossNoticed = async (deployment: string) => {
    await using database = await openChainPusherDatabase({ databaseUrl, logger, maxConnections: 1 });
    await vi.waitFor(async () => {
      const { rows } = await sql<{ reason: string }>`
        select reason from inbox_parked where ordering_key = ${deployment}`.execute(database.db);
      expect(rows).toEqual([{ reason: expect.stringContaining('tail_lost') }]);
    });
  };
  return { databaseUrl, runtime, accounts, announce, adopt, boot, bootWith, call, lossNoticed, pushes };
}

/** A hub in memory has one reader of a consumer: of several chain-pushers on it the first reads, the others only send. */
function oneReader() {
  const reading = new Set<string>();
  return (bus: Bus): Bus => ({
    ...bus,
    consume: async (message, options) => {
      if (reading.has(options.consumer)) return;
      reading.add(options.consumer);
      options.signal.addEventListener('abort', () => reading.delete(options.consumer));
      await bus.consume(message, options);
    },
  });
}
