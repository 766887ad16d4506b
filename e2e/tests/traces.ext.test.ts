import { Resources } from '@orrery/service-kit';
import { createTestDatabase, describeWithNats } from '@orrery/testing';
import { startNatsServer } from '@orrery/testing/servers';
import { type FiveProcesses, startFiveProcesses } from '@orrery/testing/system';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { apiClient } from '../src/api-client.js';
import { counterWorld, countRequest } from '../src/load/counter-world.js';
import { startCollector } from '../src/traces/collect-spans.js';

describeWithNats('traces of five processes', suite, { own: true });

function suite(): void {
  const resources = new Resources();
  let collector: Awaited<ReturnType<typeof startCollector>>;
  let system: FiveProcesses;

  beforeAll(async () => {
    collector = resources.use('collector', await startCollector());
    const nats = resources.use('nats', await startNatsServer());
    const database = resources.use('database', await createTestDatabase());
    const variables = {
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
    await vi.waitFor(
      () => {
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
      },
      { timeout: 20_000 },
    );
  });
}
