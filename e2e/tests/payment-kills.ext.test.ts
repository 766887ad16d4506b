import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Resources } from '@orrery/service-kit';
import { createTestDatabase, describeWithNats, PATIENT } from '@orrery/testing';
import { type EvmPayments, startEvmPayments } from '@orrery/testing/payments';
import { freePort, startNatsServer } from '@orrery/testing/servers';
import { builtProgram, type FiveProcesses, startFiveProcesses, startNode } from '@orrery/testing/system';
import { type Address, parseAbiItem } from 'viem';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { type ApiClient, apiClient } from '../src/api/api-client.js';
import { findViolations } from '../src/invariants/find-violations.js';
import { sharedBy, untilOwned } from '../src/load/until-owned.js';
import { evmOffers, writePaymentsFile } from '../src/public/evm-offers.js';
import type { MadeDeployment } from '../src/worlds/make-world.js';
import { publicWorld } from '../src/worlds/public-world.js';
import { RECEIVER, sellToasts } from '../src/worlds/toasts.js';
import { type PublicRequests, publicRequests } from './public-suite.js';

const TRIALS = 2;
const USED = parseAbiItem('event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)');

function payWhileRuntimesAreKilled(): void {
  const resources = new Resources(PATIENT);
  let evm: EvmPayments;
  let system: FiveProcesses;
  let api: ApiClient;
  let world: MadeDeployment;
  let send: PublicRequests;
  let secondGateway: string;
  beforeAll(async () => {
    evm = resources.use('chain', await startEvmPayments());
    const folder = await mkdtemp(join(tmpdir(), 'orrery-paid-'));
    resources.add('folder', () => rm(folder, { recursive: true, force: true }));
    const file = join(folder, 'payments.json');
    await writePaymentsFile(file, evm);
    const nats = await startNatsServer();
    resources.add('nats', () => nats.stop());
    const database = resources.use('database', await createTestDatabase());
    // Short leases, and not so short that a busy machine loses one by itself: what was sent then is answered 503.
    const env = { PAYMENTS_FILE: file, LEASE_TTL_MS: '3000', RATE_LIMITS: 'false' };
    const backends = { databaseUrl: database.url, natsUrl: nats.url };
    system = resources.use('five processes', await startFiveProcesses(backends, env));
    api = apiClient(system.url, system.key);
    world = await publicWorld(api);
    await sellToasts(api, world, RECEIVER);
    send = publicRequests(system.url, world);
    const port = String(await freePort());
    const gateway = startNode(builtProgram('gateway'), {
      ...system.commandEnv,
      ...env,
      HEALTH_PORT: '0',
      PORT: port,
    });
    resources.use('second gateway', gateway);
    secondGateway = `http://127.0.0.1:${port}`;
    await vi.waitFor(async () => expect((await fetch(`${secondGateway}/readyz`)).ok).toBe(true));
  });
  afterAll(() => resources.release());

  const offer = (name: string) => evmOffers(evm, send)(name);
  const entriesOf = async (name: string) =>
    (await api.get(`${world.path}/history?instance=guest:${name}`)).body.data as { status: string }[];

  const killRuntime = async () => {
    await system.kill('runtime');
    setTimeout(() => system.restart('runtime'), 200);
  };
  const answeredIn = { timeout: 120_000, interval: 200 };

  it('fifty copies of a payment at two gateways and two runtimes are one settlement and one execution', async () => {
    const second = system.add('runtime');
    onTestFinished(() => second[Symbol.asyncDispose]());
    await untilOwned(system.databaseUrl, sharedBy(2));
    for (let trial = 0; trial < TRIALS; trial += 1) {
      const { uses, ...sent } = await offer(`twin-${trial}`);
      const copies = Array.from({ length: 50 }, (_, n) =>
        send({ ...sent, url: n % 2 === 0 ? system.url : secondGateway }),
      );
      const answers = await Promise.all(copies);
      const ids = answers.filter(({ status }) => status === 200).map(({ body }) => body.data.historyId);
      expect(new Set(ids).size).toBe(1);
      const refused = answers.filter(({ status }) => status !== 200).map(({ body }) => body.code);
      expect(new Set([...refused, 'request_in_flight'])).toEqual(new Set(['request_in_flight']));
      expect([await uses(), (await entriesOf(`twin-${trial}`)).length]).toEqual([1, 1]);
    }
  });

  it.each([
    ['before its payment is charged', 'unreachable'],
    ['after its payment was charged', 'drops its reply'],
  ] as const)('a runtime killed %s leaves one charge and one result', async (_when, conduct) => {
    for (let trial = 0; trial < TRIALS; trial += 1) {
      const name = `${conduct.slice(0, 5).trim()}-${trial}`;
      const { uses, ...sent } = await offer(name);
      evm.facilitator.conduct = conduct;
      evm.facilitator.beforeSettling = async () => {
        evm.facilitator.beforeSettling = async () => undefined;
        await system.kill('runtime');
        setTimeout(() => {
          evm.facilitator.conduct = 'honest';
          system.restart('runtime');
        }, 200);
      };
      await send(sent);
      const answered = async () => {
        const { status, body } = await send(sent);
        expect(status, `${JSON.stringify(body)}\n${system.output().slice(-4000)}`).toBe(200);
      };
      await vi.waitFor(answered, { timeout: 120_000, interval: 200 });
      expect([await uses(), await entriesOf(name)]).toMatchObject([1, [{ status: 'succeeded' }]]);
    }
  });

  it.each([
    ['while its payment is unclear', 'awaiting'],
    ['while the facilitator is asked once more', 'again'],
  ])('a runtime killed %s leaves one charge and one result', async (_what, when) => {
    for (let trial = 0; trial < TRIALS; trial += 1) {
      const name = `${when}-${trial}`;
      const { uses, ...sent } = await offer(name);
      let calls = 0;
      let isAnswered = () => undefined;
      const answered = new Promise<undefined>((resolve) => {
        isAnswered = () => void resolve(undefined);
      });
      evm.facilitator.beforeSettling = async () => {
        calls += 1;
        evm.facilitator.conduct = calls === 1 ? 'answers 500' : 'drops its reply';
        if (calls === 1) return;
        // It is asked once more at once, maybe before the caller has its answer.
        await answered;
        if (when === 'again') await killRuntime();
      };
      expect((await send(sent)).status).toBe(202);
      if (when === 'awaiting') await killRuntime();
      isAnswered();
      await vi.waitFor(async () => expect((await send(sent)).status).toBe(200), answeredIn);
      evm.facilitator.beforeSettling = async () => undefined;
      evm.facilitator.conduct = 'honest';
      expect([await uses(), await entriesOf(name)]).toMatchObject([1, [{ status: 'succeeded' }]]);
    }
  });

  it('a payment that its payer makes fail in its own block leaves no execution', async () => {
    for (let trial = 0; trial < TRIALS; trial += 1) {
      const { uses, key, ...sent } = await offer(`empty-${trial}`);
      evm.emptyFirst(key);
      expect(await send(sent)).toMatchObject({ status: 402, body: { code: 'payment_refused' } });
      expect([await uses(), await entriesOf(`empty-${trial}`)]).toEqual([0, []]);
    }
  });

  it('as many payments were charged as executions have succeeded', async () => {
    const { body } = await api.get(`${world.path}/payments`);
    const total = body.totals.find(({ status }: { status: string }) => status === 'settled');
    expect(body.totals).toMatchObject([
      { status: 'refused', payments: TRIALS },
      { status: 'settled', payments: 5 * TRIALS },
    ]);
    const used = await evm.chain.getLogs({
      address: evm.token as Address,
      event: USED,
      fromBlock: 0n,
      toBlock: 'latest',
    });
    expect(used).toHaveLength(5 * TRIALS);
    expect(await evm.balanceOf(RECEIVER)).toBe(BigInt(total.amount));
    expect((await api.get(`${world.path}/history/verify`)).body.data.valid).toBe(true);
    expect(await findViolations(system.databaseUrl)).toEqual([]);
  });
}

describeWithNats('paid executions, five processes', payWhileRuntimesAreKilled, { own: true });
