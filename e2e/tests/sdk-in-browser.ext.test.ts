import { createServer } from 'node:http';
import { join } from 'node:path';
import { listen } from '@orrery/testing/servers';
import { repositoryRoot, type System, startAllInOne } from '@orrery/testing/system';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { apiClient } from '../src/api/api-client.js';
import { browse, startBrowser } from '../src/external/browse.js';
import { describeWithProgram } from '../src/external/describe-with-program.js';
import { racingWorld } from '../src/worlds/racing-world.js';

/** A browser that starts on a busy machine included. */
const PATIENCE_MS = 300_000;

describeWithProgram('chromium', 'the SDK in a browser', () => {
  let system: System;
  beforeAll(async () => {
    system = await startAllInOne();
  });
  afterAll(() => system?.[Symbol.asyncDispose]());

  async function bundle(): Promise<string> {
    const { outputFiles } = await build({
      entryPoints: [join(repositoryRoot, 'packages/sdk/dist/index.js')],
      bundle: true,
      format: 'iife',
      globalName: 'sdk',
      platform: 'browser',
      write: false,
    });
    return `<script>${outputFiles[0]?.text}</script>`;
  }

  it('executes, follows the stream, meets an error and verifies', async () => {
    const { deployment } = await racingWorld(apiClient(system.url, system.key));
    const [, , world, , address] = deployment.split('/');
    const script = `
      const orrery = sdk.createOrrery({ url: '${system.url}', token: '${system.key}' });
      const derby = orrery.deployment('${world}', '${address}');
      const race = { event: 'race_result', input: { raceId: 'R1', winner: 'HORSE_1' } };
      const { seq } = await derby.execute(race);
      const told = [];
      for await (const { entry } of derby.stream({ after: 0, include: 'all' })) {
        told.push(entry.kind);
        if (entry.seq === seq) break;
      }
      const error = await derby.execute({ event: 'none' }).catch(({ code, status }) => ({ code, status }));
      const { valid, entries, instances } = await derby.verifyHistory();
      return { told, error, verified: { valid, entries, instances } };`;
    expect(await browse(script, PATIENCE_MS, { page: await bundle() })).toEqual({
      told: ['deployment_created', 'instance_created', 'execution'],
      error: { code: 'event_not_bound', status: 400 },
      verified: { valid: true, entries: 3, instances: 1 },
    });
  });

  it.each([
    ['of its own server', "''"],
    ['of any server', 'location.origin'],
  ])('follows a stream %s over connections that break', async (_, url) => {
    const html = await bundle();
    const connections: unknown[] = [];
    const server = createServer(({ url: path, headers }, reply) => {
      // A browser itself sends again what breaks on a connection that it had before.
      reply.setHeader('connection', 'close');
      if (path === '/') return void reply.setHeader('content-type', 'text/html').end(html);
      if (path !== '/app/deployments/0x1/stream') return void reply.writeHead(404).end();
      connections.push(headers['last-event-id']);
      if (connections.length === 2) return void reply.destroy();
      const seq = connections.length === 1 ? 1 : 2;
      reply.setHeader('content-type', 'text/event-stream');
      reply.end(`id: ${seq}\nevent: execution\ndata: {"seq":${seq}}\n\n`);
    });
    await using listening = await listen(server);
    await using browser = await startBrowser();
    const page = await browser.newPage();
    await page.goto(listening.url, { timeout: PATIENCE_MS });
    const told = await page.evaluate(`(async () => {
      const told = [];
      for await (const { entry } of sdk.createOrrery({ url: ${url} }).published('0x1').stream({ after: 0 })) {
        told.push(entry.seq);
        if (told.length === 2) return told;
      }
    })().catch((error) => ({ failed: String(error) }))`);
    expect([told, connections]).toEqual([
      [1, 2],
      ['0', '1', '1'],
    ]);
  });
});
