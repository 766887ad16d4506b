import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { Resources } from '@orrery/service-kit';
import { PATIENT } from '@orrery/testing';
import { freePort, makeCertificate } from '@orrery/testing/servers';
import { type NodeProcess, repositoryRoot, type System, startProgram } from '@orrery/testing/system';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { type ApiClient, apiClient, created } from '../src/api/api-client.js';
import { commandLine } from '../src/starting/command-line.js';
import { startSystem } from '../src/starting/start-system.js';
import { counterWorld, countRequest } from '../src/worlds/counter-world.js';

const resources = new Resources(PATIENT);
let files: { key: string; certificate: string };
let system: System;
let api: ApiClient;
beforeAll(async () => {
  files = await makeCertificate(resources);
  const env = { NODE_EXTRA_CA_CERTS: files.certificate, WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' };
  system = resources.use('system', await startSystem(undefined, env));
  api = apiClient(system.url, system.key);
});
afterAll(() => resources.release());

/** One of the programs of the pages, which knows the secret. */
async function receive(command: string, program: string, port: number, secret: string): Promise<NodeProcess> {
  const { PATH, HOME } = process.env;
  const given = {
    WEBHOOK_SECRET: secret,
    TLS_KEY: files.key,
    TLS_CERT: files.certificate,
    PORT: String(port),
  };
  const started = startProgram(command, [`${repositoryRoot}examples/webhooks/${program}`], {
    ...{ PATH, HOME, PYTHONDONTWRITEBYTECODE: '1' },
    ...given,
  });
  resources.use(program, started);
  await started.waitFor(/listening on/);
  return started;
}

/** The programs of the pages, and the commands that run them. */
const PROGRAMS: readonly [command: string, program: string][] = [
  [process.execPath, 'receive.mjs'],
  ['python3', 'receive.py'],
];

/** The first line that a program answers to a text as it stands. */
async function answerTo(port: number, request: string): Promise<string> {
  const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false });
  socket.write(request);
  const [chunk] = await once(socket, 'data');
  socket.destroy();
  return String(chunk).split('\r\n')[0] ?? '';
}

it.each(PROGRAMS)(
  '%s %s is held up by nobody who says nothing, and reads no body without an end',
  async (command, program) => {
    const port = await freePort();
    await receive(command, program, port, `whsec_${Buffer.alloc(24).toString('base64')}`);
    const silent = connect(port, '127.0.0.1');
    onTestFinished(() => void silent.destroy());
    await once(silent, 'connect');
    const head = 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n';
    expect(await answerTo(port, head)).toMatch(/^HTTP\/1\.[01] 400 /);
  },
);

it('sends executions to the programs of the pages, which take each once', async () => {
  const deployment = await (await counterWorld(api)).deploy();
  const { json } = commandLine(system.commandEnv);
  const place = deployment
    .split('/')
    .filter((part) => part.startsWith('0x'))
    .join('/');
  const programs = await Promise.all(
    PROGRAMS.map(async ([command, program]) => {
      const port = await freePort();
      const made = await json('webhooks', 'create', place, `https://127.0.0.1:${port}/`);
      expect(made).toMatchObject({ state: 'active', secret: expect.stringMatching(/^whsec_/) });
      return { id: String(made.id), received: await receive(command, program, port, String(made.secret)) };
    }),
  );
  for (let number = 1; number <= 3; number += 1)
    await api.post(`${deployment}/execute`, countRequest(number));
  const bad = await api.post(`${deployment}/execute`, { event: 'count', input: {} });
  expect(bad.status).toBe(400);
  const { data: entries } = (await api.get(`${deployment}/history?limit=100`)).body;
  const lines = entries
    .reverse()
    .map((one: { seq: number; event: string; status: string; result: unknown }) =>
      [one.seq, one.event, one.status, JSON.stringify(one.result)].join(' '),
    );
  for (const { id, received } of programs) {
    await vi.waitFor(() => expect(received.output().trim().split('\n').slice(1)).toEqual(lines));
    await json('webhooks', 'test', place, id);
    await received.waitFor(/^test$/m);
    await vi.waitFor(async () => {
      const deliveries = (await json('webhooks', 'deliveries', place, id)) as unknown as object[];
      expect(deliveries).toHaveLength(lines.length + 1);
      expect(deliveries).toEqual(deliveries.map(() => expect.objectContaining({ state: 'delivered' })));
    });
    await json('webhooks', 'redeliver', place, id, entries[0].id);
  }
  // What came before is not printed again.
  await vi.waitFor(async () => {
    for (const { id } of programs) {
      const { data } = (await api.get(`${deployment}/webhooks/${id}/deliveries?state=delivered`)).body;
      expect(data).toHaveLength(lines.length + 2);
    }
  });
  for (const { received } of programs)
    expect(received.output().trim().split('\n').slice(1)).toEqual([...lines, 'test']);
});

it('belong to a deployment and not to what it runs: locked it takes them, and a clone has none', async () => {
  const deployment = await (await counterWorld(api)).deploy();
  const [world, source] = deployment.split('/deployments/');
  await api.post(`${deployment}/lock`);
  const url = 'https://127.0.0.1:1024/';
  created(await api.post(`${deployment}/webhooks`, { url }));
  const { body } = await api.get(`${deployment}/history?include=all`);
  expect(JSON.stringify(body)).not.toContain(url);
  const clone = created(
    await api.post(`${world}/deployments`, { name: 'Clone', bindings: [], sourceDeployment: source }),
  );
  expect((await api.get(`${world}/deployments/${clone.address}/webhooks`)).body.data).toEqual([]);
  expect((await api.get(`${deployment}/webhooks`)).body.data).toHaveLength(1);
});
