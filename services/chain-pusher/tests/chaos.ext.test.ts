import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectBus } from '@orrery/bus';
import type { SigningChain } from '@orrery/chain-pusher/config';
import type { JournalFact } from '@orrery/contracts';
import { createLogger, Resources, systemClock } from '@orrery/service-kit';
import { createTestDatabase, describeWithNats, PATIENT } from '@orrery/testing';
import { startNatsServer } from '@orrery/testing/servers';
import { builtProgram, type NodeProcess, startNode } from '@orrery/testing/system';
import { expect, it, onTestFinished, vi } from 'vitest';
import { startEvm } from './evm-house.js';
import { startFakeRuntime } from './fake-runtime.js';
import { type Fault, startFaultProxy } from './fault-proxy.js';
import { startSolana } from './solana-house.js';

/** `PUSH_CHAOS=2000` runs the whole of it: 20 deployments, ten times the executions of every day. */
const executions = Number(process.env['PUSH_CHAOS'] || 200);
const deployments = Math.max(4, Math.min(20, executions / 50));
const contents = { targetChains: ['local'], onchain: null };
const heads = { targetChains: [], onchain: null, headChains: ['local'] };
const planOf = (roll: number) => (roll < 0.6 ? contents : roll < 0.9 ? heads : null);
/** Steps of the trial; in each some executions commit, and then a process is killed. */
const STEPS = Math.max(4, Math.min(16, executions / 50));
const STEP_MS = 700;
/** Each step is an hour of a day that is over. */
const HOUR_MS = 3_600_000;
const DAY = Date.parse('2026-11-20T00:00:00.000Z');
const hourOf = ({ executedAt }: JournalFact): number => Math.floor(Date.parse(executedAt) / HOUR_MS);

/** The hashes of the entries that a chain is to hold: of executions, and of the last entries of hours that end with a head. */
function expectedOf(entries: readonly JournalFact[]): string[] {
  const hashes: string[] = [];
  let open: number | undefined;
  const close = (before: number) => {
    if (open === undefined || open >= before) return;
    const hour = open;
    hashes.push(entries.findLast((entry) => hourOf(entry) <= hour)?.hash ?? '');
    open = undefined;
  };
  for (const entry of entries) {
    if (entry.binding === null) continue;
    close(hourOf(entry));
    if (entry.binding.headChains === undefined) hashes.push(entry.hash);
    else open ??= hourOf(entry);
  }
  close(Number.POSITIVE_INFINITY);
  return hashes;
}

interface Trial {
  readonly chain: (url: string) => SigningChain;
  readonly url: string;
  /** What the chain holds: entry hash by number, or the range of a memo with its last hash. */
  readonly held: () => Promise<readonly Held[]>;
}

interface Held {
  readonly deployment: string;
  readonly from: number;
  readonly to: number;
  readonly entryHash: string;
}

const families: readonly [string, () => Promise<Trial>][] = [
  [
    'EVM',
    async () => {
      const evm = await startEvm();
      return {
        chain: (url) => evm.through(url),
        url: evm.url,
        held: async () =>
          (await evm.pushed()).map(({ deployment, number, entryHash }) => ({
            deployment: deployment.toLowerCase(),
            from: Number(number),
            to: Number(number),
            entryHash: entryHash.slice(2),
          })),
      };
    },
  ],
  [
    'Solana',
    async () => {
      const solana = await startSolana();
      return {
        chain: (url) => solana.through(url),
        url: solana.url,
        held: async () =>
          solana.memos().map(({ deployment, number, from = number, to = number, entryHash }) => ({
            deployment: String(deployment),
            from: Number(from),
            to: Number(to),
            entryHash: String(entryHash),
          })),
      };
    },
  ],
];

/** Servers that fail in every way, until `calm`. */
async function startFaults(url: string) {
  let isCalm = false;
  const faultOf = (method: string): Fault => {
    if (isCalm) return 'pass';
    const roll = Math.random();
    if (/send(Raw)?Transaction$/.test(method)) {
      if (roll < 0.15) return 'lose answer';
      return roll < 0.2 ? 'swallow' : 'pass';
    }
    return roll < 0.02 ? 'refuse' : 'pass';
  };
  const proxy = await startFaultProxy(url, ({ method }) => faultOf(method));
  const calm = () => {
    isCalm = true;
  };
  return { proxy, calm };
}

async function startHouse(chain: SigningChain) {
  const resources = new Resources(PATIENT);
  onTestFinished(() => resources.release());
  const logger = createLogger({ service: 'test', level: 'silent' });
  const nats = resources.use('nats', await startNatsServer());
  const database = resources.use('database', await createTestDatabase());
  const bus = await connectBus({ url: nats.url, service: 'runtime', logger, clock: systemClock });
  resources.add('bus', () => bus.close());
  const folder = await mkdtemp(join(tmpdir(), 'orrery-chaos-'));
  resources.add('folder', () => rm(folder, { recursive: true }));
  const file = join(folder, 'chains.json');
  await writeFile(file, JSON.stringify([chain.chain]));
  const env = {
    DATABASE_URL: database.url,
    NATS_URL: nats.url,
    HEALTH_PORT: '0',
    LOG_LEVEL: 'fatal',
    CHAINS_FILE: file,
    CHAIN_LEASE_TTL_MS: '1000',
    KEY: chain.signerKey,
  };
  const start = (): NodeProcess =>
    resources.use('chain-pusher', startNode(builtProgram('chain-pusher'), env));
  return { runtime: await startFakeRuntime(bus), start };
}

describeWithNats('two chain-pushers', () => {
  it.each(families)(
    'bring executions and heads onto a chain of the family %s, in order and once, while they are killed and servers fail',
    async (_family, begin) => {
      const trial = await begin();
      const { proxy, calm } = await startFaults(trial.url);
      const { runtime, start } = await startHouse(trial.chain(proxy));
      const addresses = Array.from({ length: deployments }, () => runtime.createDeployment());
      const processes = [start(), start()];
      let kills = 0;
      for (const address of addresses)
        Object.assign(runtime.journals.get(address)?.[0] ?? {}, { executedAt: new Date(DAY).toISOString() });
      for (let step = 0; step < STEPS; step += 1) {
        const now = DAY + (step + 0.5) * HOUR_MS;
        runtime.setClock(() => now);
        for (let count = 0; count < executions / STEPS; count += 1) {
          const deployment = addresses[Math.floor(Math.random() * deployments)] ?? '';
          const executedAt = new Date(now + count).toISOString();
          const entry = runtime.execute(deployment, { plan: planOf(Math.random()), executedAt });
          if (Math.random() < 0.5) await runtime.publish(entry);
        }
        await systemClock.sleep(STEP_MS * (0.5 + Math.random()));
        const victim = Math.floor(Math.random() * 2);
        await processes[victim]?.end('SIGKILL');
        kills += 1;
        processes[victim] = start();
      }
      calm();
      runtime.setClock(Date.now);
      const expected = new Map(
        addresses.map((address) => [address, expectedOf(runtime.journals.get(address) ?? [])]),
      );
      const total = [...expected.values()].flat().length;
      const count = async () => (await trial.held()).reduce((sum, { from, to }) => sum + to - from + 1, 0);
      await vi.waitFor(async () => expect(await count()).toBeGreaterThanOrEqual(total), {
        timeout: 500_000,
        interval: 500,
      });
      const held = await trial.held();
      for (const [address, hashes] of expected) {
        let last = 0;
        for (const { from, to, entryHash } of held.filter(({ deployment }) => deployment === address)) {
          expect(from).toBe(last + 1);
          expect(entryHash).toBe(hashes[to - 1]);
          last = to;
        }
        expect(last).toBe(hashes.length);
      }
      expect(kills).toBe(STEPS);
    },
  );
});
