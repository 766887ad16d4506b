import { join } from 'node:path';
import { repositoryRoot, type System, startAllInOne } from '@orrery/testing/system';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { apiClient } from '../src/api/api-client.js';
import { browse } from '../src/external/browse.js';
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
});
