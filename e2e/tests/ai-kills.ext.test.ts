import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@orrery/service-kit';
import { createTestDatabase, describeWithNats } from '@orrery/testing';
import { type ModelCall, type ModelServer, says, startModelServer } from '@orrery/testing/model-server';
import { startNatsServer } from '@orrery/testing/servers';
import { type FiveProcesses, type NodeProcess, startFiveProcesses } from '@orrery/testing/system';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { type ApiClient, apiClient, created } from '../src/api/api-client.js';
import { findViolations } from '../src/invariants/find-violations.js';
import { sharedBy, untilOwned } from '../src/load/until-owned.js';

/**
 * Short leases, so that a takeover takes seconds, and not so short that a busy machine loses one by itself: the model would
 * be asked again. A call's deadline that the model below exceeds, and that no other call does on a busy machine.
 */
const env = { RATE_LIMITS: 'false', LEASE_TTL_MS: '3000', CALL_DEADLINE_MS: '5000' };
const SLOW_MS = 6000;

const judge = {
  name: 'judge',
  firstVersion: {
    stateChanges: { counter: 'partial' },
    readEntities: [{ schema: 'counter' }],
    behaviorPrompt: 'Count one more.',
  },
};

describeWithNats(
  'an execution by a model in five processes',
  () => {
    const cleanUp: (() => Promise<void>)[] = [];
    let system: FiveProcesses;
    let api: ApiClient;
    let server: ModelServer;
    let client: Client;
    let next: NodeProcess;
    beforeAll(async () => {
      server = await startModelServer({ behaves: says({ stateChanges: { 'counter:c': { value: 1 } } }) });
      cleanUp.push(async () => server[Symbol.asyncDispose]());
      const folder = await mkdtemp(join(tmpdir(), 'orrery-ai-kills-'));
      cleanUp.push(() => rm(folder, { recursive: true }));
      const file = join(folder, 'models.json');
      await writeFile(file, JSON.stringify([listed(server.baseUrl)]));
      const nats = await startNatsServer();
      cleanUp.push(nats.stop);
      const database = await createTestDatabase();
      cleanUp.push(() => database.drop());
      const backends = { databaseUrl: database.url, natsUrl: nats.url };
      system = await startFiveProcesses(backends, { ...env, AI_MODELS_FILE: file });
      cleanUp.push(async () => system[Symbol.asyncDispose]());
      client = new Client({ connectionString: database.url });
      await client.connect();
      cleanUp.push(() => client.end());
      api = apiClient(system.url, system.key);
    });
    afterAll(async () => {
      for (const release of cleanUp.reverse()) await release();
    });
    beforeEach(() => server.reset());

    const makeWorld = async () => {
      const world = `/worlds/${created(await api.post('/worlds', { name: 'Judged' })).address}`;
      const attributes = [{ name: 'value', type: 'integer', defaultValue: 0 }];
      created(await api.post(`${world}/entity-schemas`, { name: 'counter', attributes }));
      created(await api.post(`${world}/events`, judge));
      return world;
    };
    const deploy = async (world: string) => {
      const bindings = [{ event: 'judge', eventVersion: 1 }];
      const { id, address } = created(await api.post(`${world}/deployments`, { name: 'D', bindings }));
      return { id, path: `${world}/deployments/${address}` };
    };
    const owners = async () => {
      const { rows } = await client.query<{ id: number; owner: string }>(
        'select id, owner from runtime.partitions where owner is not null and expires_at > now()',
      );
      return new Map(rows.map(({ id, owner }) => [Number(id), owner]));
    };
    /** Starts a second runtime, and makes a deployment that the one before it owns. */
    const deployAtFirstOfTwo = async () => {
      const [first] = (await owners()).values();
      const second = system.add('runtime');
      // No partition moves any more.
      await untilOwned(system.databaseUrl, sharedBy(2));
      const world = await makeWorld();
      for (;;) {
        const { id, path } = await deploy(world);
        const shares = await owners();
        if (shares.get(id % shares.size) === first) return { second, path };
      }
    };
    const execute = (path: string, query = '') => api.post(`${path}/execute${query}`, { event: 'judge' });
    const afterAWhile = async (call: ModelCall) => {
      await systemClock.sleep(SLOW_MS, call.gone);
      await says({ stateChanges: { 'counter:c': { value: 1 } } })(call);
    };

    it('may take longer than a call, and so may a dry run', async () => {
      server.plan(afterAWhile, afterAWhile);
      const { path } = await deploy(await makeWorld());
      const [dry, executed] = await Promise.all([execute(path, '?dryRun=true'), execute(path)]);
      expect(dry.status, JSON.stringify(dry.body)).toBe(200);
      expect(executed.body.data).toMatchObject({ stateChanges: { 'counter:c': { value: 1 } } });
      expect(server.calls).toHaveLength(2);
      const { totals } = (await api.get(`${path}/usage`)).body.data;
      expect(totals).toEqual({ calls: 2, inputTokens: 200, outputTokens: 40, usd: 0.00028 });
    });

    it('is asked for again when its runtime is killed during the call', async () => {
      let arrived = () => {};
      const arrival = new Promise<void>((resolve) => {
        arrived = resolve;
      });
      server.plan(async ({ gone }) => {
        arrived();
        await once(gone, 'abort');
      });
      const { second, path } = await deployAtFirstOfTwo();
      const answer = execute(path);
      await arrival;
      await system.kill('runtime');
      next = second;
      expect((await answer).body).toMatchObject({ data: { stateChanges: { 'counter:c': { value: 1 } } } });
      expect(server.calls).toHaveLength(2);
      expect(await findViolations(system.databaseUrl)).toEqual([]);
    });

    it('is not asked for again when its runtime is killed between the answer and the commit', async () => {
      const { path } = await deployAtFirstOfTwo();
      await client.query('begin');
      // Each commit of an entry changes the head, and waits; the answer of the model is stored without one.
      await client.query('select 1 from runtime.journal_heads for update');
      const answer = execute(path);
      await vi.waitFor(async () => {
        const { rows } = await client.query(`select 1 from runtime.runs where state = 'decided'`);
        expect(rows).toHaveLength(1);
      });
      await next.end('SIGKILL');
      await client.query('rollback');
      expect((await answer).body).toMatchObject({ data: { stateChanges: { 'counter:c': { value: 1 } } } });
      expect(server.calls).toHaveLength(1);
      expect(await findViolations(system.databaseUrl)).toEqual([]);
    });
  },
  { own: true },
);

const listed = (baseUrl: string) => ({
  modelId: 'test/model',
  modelDisplayName: 'Test model',
  modelDescription: 'Answers as a test says.',
  contextLength: 32_768,
  attestationSupported: false,
  verifiable: false,
  isDefault: true,
  baseUrl,
  inputUsdPerMillionTokens: 1,
  outputUsdPerMillionTokens: 2,
});
