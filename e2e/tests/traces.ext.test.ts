import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Resources } from '@orrery/service-kit';
import { createTestDatabase, describeWithNats, PATIENT } from '@orrery/testing';
import { type EvmPayments, startEvmPayments } from '@orrery/testing/payments';
import { startNatsServer } from '@orrery/testing/servers';
import { type FiveProcesses, startFiveProcesses } from '@orrery/testing/system';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { apiClient } from '../src/api/api-client.js';
import { startCollector } from '../src/external/collect-spans.js';
import { evmOffers, writePaymentsFile } from '../src/public/evm-offers.js';
import { startLocalChain } from '../src/starting/start-local-chain.js';
import { counterWorld, countRequest } from '../src/worlds/counter-world.js';
import { publicWorld } from '../src/worlds/public-world.js';
import { racingWorld } from '../src/worlds/racing-world.js';
import { scheduledWorld } from '../src/worlds/scheduled-world.js';
import { RECEIVER, sellToasts } from '../src/worlds/toasts.js';
import { publicRequests } from './public-suite.js';

describeWithNats('traces of five processes', suite, { own: true });

function suite(): void {
  const resources = new Resources(PATIENT);
  let collector: Awaited<ReturnType<typeof startCollector>>;
  let evm: EvmPayments;
  let system: FiveProcesses;

  beforeAll(async () => {
    collector = resources.use('collector', await startCollector());
    const nats = resources.use('nats', await startNatsServer());
    const database = resources.use('database', await createTestDatabase());
    const chain = await startLocalChain(resources);
    evm = resources.use('payments', await startEvmPayments());
    const folder = await mkdtemp(join(tmpdir(), 'orrery-paid-'));
    resources.add('folder', () => rm(folder, { recursive: true, force: true }));
    const payments = join(folder, 'payments.json');
    await writePaymentsFile(payments, evm);
    const variables = {
      ...chain.env,
      PAYMENTS_FILE: payments,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_TRACES_SAMPLER: 'always_on',
      OTEL_BSP_SCHEDULE_DELAY: '100',
    };
    const backends = { databaseUrl: database.url, natsUrl: nats.url };
    system = resources.use('system', await startFiveProcesses(backends, variables));
  });
  afterAll(() => resources.release());

  it('have an execution whole: from the request over the bus to the statements of PostgreSQL', async () => {
    const api = apiClient(system.url, system.key);
    const { deploy } = await counterWorld(api);
    const path = await deploy();
    await api.post(`${path}/execute`, countRequest(1));
    await vi.waitFor(() => {
      const [root] = collector.spans.filter(({ name }) => name.endsWith('/execute'));
      expect(root).toMatchObject({ service: 'gateway', parentSpanId: '' });
      const trace = collector.spans.filter(({ traceId }) => traceId === root?.traceId);
      const has = trace.map(({ service, name }) => `${service}: ${name}`);
      expect(has).toEqual(
        expect.arrayContaining([
          'gateway: runtime deployments.execute',
          'runtime: runtime deployments.execute',
          'catalog: catalog definitions.confirm',
        ]),
      );
      // The statement that commits begins with what it reads.
      expect(has).toContain('runtime: with');
      const known = new Set(trace.map(({ spanId }) => spanId));
      expect(trace.filter((span) => span !== root && !known.has(span.parentSpanId))).toEqual([]);
    });
  });

  /** Waits until the trace of a first span has these spans too. Processes send theirs at different times. */
  const expectTrace = (first: string, others: readonly string[]) =>
    vi.waitFor(() => {
      const named = collector.spans.map(({ service, name, traceId }) => ({
        traceId,
        name: `${service}: ${name}`,
      }));
      const found = named.find(({ name }) => name === first);
      const trace = named.filter(({ traceId }) => traceId === found?.traceId);
      expect(trace.map(({ name }) => name)).toEqual(expect.arrayContaining([first, ...others]));
    });

  it('continue an execution to the chain that it is pushed to', async () => {
    const api = apiClient(system.url, system.key);
    const { deployment } = await racingWorld(api);
    await api.put(`${deployment}/event-bindings`, [{ event: 'race_result', targetChains: ['local'] }]);
    const race = { event: 'race_result', input: { raceId: 'R1', winner: 'HORSE_1' } };
    expect((await api.post(`${deployment}/execute`, race)).status).toBe(200);
    await expectTrace('chain-pusher: eth_sendRawTransaction', [
      'gateway: runtime deployments.execute',
      'runtime: runtime deployments.execute',
      'chain-pusher: sign pushes to local',
      'chain-pusher: send pushes to local',
    ]);
  });

  it('lead from an occurrence of a schedule to its execution', async () => {
    const api = apiClient(system.url, system.key);
    const { deploy } = await scheduledWorld(api, '0 0 29 2 *');
    const deployment = await deploy();
    expect((await api.post(`${deployment}/schedules/lap/run`)).status).toBe(200);
    await expectTrace('scheduler: occurrence', [
      'scheduler: runtime executions.forService',
      'runtime: runtime executions.forService',
      'runtime: with',
    ]);
  });

  it('have the payment of an execution: what the facilitator and the chain were asked', async () => {
    const api = apiClient(system.url, system.key);
    const world = await publicWorld(api);
    await sellToasts(api, world, RECEIVER);
    const send = publicRequests(system.url, world);
    expect((await send(await evmOffers(evm, send)('Ada'))).status).toBe(200);
    await expectTrace('runtime: x402 settle', [
      'gateway: POST /app/deployments/:address/execute',
      'gateway: runtime executions.public',
      'runtime: runtime executions.public',
      'runtime: x402 verify',
      'runtime: eth_getTransactionReceipt',
    ]);
  });
}
