import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Resources } from '@orrery/service-kit';
import { createTestDatabase, describeWithNats, describeWithRedis, PATIENT } from '@orrery/testing';
import { freePort, startNatsServer, startRedisServer } from '@orrery/testing/servers';
import { BUILT_COMMAND, repositoryRoot } from '@orrery/testing/system';
import { expect, it, onTestFinished } from 'vitest';
import { describeWithProgram } from '../src/external/describe-with-program.js';
import { readPage } from '../src/guides/pasted-pages.js';

const MARK = '# A test runs the same: e2e/tests/operations-page.ext.test.ts';

/** The page's own addresses become those of servers of this test's own, and its ports free ones. */
async function commandsOn(addresses: Readonly<Record<string, string>>): Promise<string> {
  const page = readPage('docs/operations.md').filter(({ text: own }) => own.startsWith(MARK));
  expect(page).toHaveLength(4);
  let script = page.map(({ text: own }) => own).join('\n');
  for (const [address, own] of Object.entries(addresses)) script = script.replaceAll(address, own);
  for (const port of ['3000', '3112', '3122']) script = script.replaceAll(port, String(await freePort()));
  const [, port] = /ORRERY_URL=http:\/\/127\.0\.0\.1:(\d+)/.exec(script) ?? [];
  const command = `npx() { shift; node ${join(repositoryRoot, BUILT_COMMAND)} "$@"; }`;
  return [`set -eu; export PORT=${port} HEALTH_PORT=0`, command, script].join('\n');
}

/** Runs it in a folder for its logs, beside the services. What it starts ends with it, whatever happens. */
async function paste(script: string, folder: string) {
  await symlink(join(repositoryRoot, 'services'), join(folder, 'services'));
  const shell = spawn('bash', ['-s'], { cwd: folder, detached: true });
  const end = () => {
    try {
      process.kill(-(shell.pid ?? 0), 'SIGKILL');
    } catch {
      // All of them have ended.
    }
  };
  process.once('exit', end);
  onTestFinished(() => {
    process.off('exit', end);
    end();
  });
  shell.stdin.end(script);
  const [output, errors, [code]] = await Promise.all([
    text(shell.stdout),
    text(shell.stderr),
    once(shell, 'close'),
  ]);
  return { output, errors, code };
}

describeWithNats(
  'the way from nothing to three runtimes',
  () =>
    describeWithRedis(
      'and Redis',
      () =>
        describeWithProgram('psql', 'as its page describes it', () => {
          it('works', async () => {
            const resources = new Resources(PATIENT);
            onTestFinished(() => resources.release());
            const folder = await mkdtemp(join(tmpdir(), 'orrery-operations-'));
            resources.add('folder', () => rm(folder, { recursive: true, force: true }));
            const nats = resources.use('nats', await startNatsServer());
            const redis = resources.use('redis', await startRedisServer());
            const database = resources.use('database', await createTestDatabase());
            const script = await commandsOn({
              'postgres://orrery:secret@127.0.0.1:5432/orrery': database.url,
              'nats://127.0.0.1:4222': nats.url,
              'redis://127.0.0.1:6379': redis.url,
            });
            const { output, errors, code } = await paste(script, folder);
            expect([errors, code], output).toEqual(['', 0]);
            expect(output.match(/"valid":true/g)).toHaveLength(3);
            expect(output.match(/ runtime-\S+ +\| +2[0-2]$/gm)).toHaveLength(3);
          });
        }),
      { own: true },
    ),
  { own: true },
);
