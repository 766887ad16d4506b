import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
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

/** How long the page may take, in ms: below the test's own bound, so that what hangs still tells what it said. */
const PASTING_MS = 400_000;

/** Where the page finds the five services ready, the gateway first. */
const READY_AT = ['3000', '3101', '3102', '3103', '3104'];

/**
 * The program `node`. The page has the services' default ports, for which there are free ones here. The chain-pusher is late, so that it is seen
 * whether the page waits for it.
 */
const NODE = `node() {
  case $1 in
    services/gateway/*) own=0 ;;
    services/catalog/*) own=3101 ;;
    services/runtime/*) own=3102 ;;
    services/scheduler/*) own=3103 ;;
    services/chain-pusher/*) own=3104; until curl -sf http://127.0.0.1:3000/readyz; do sleep 0.1; done ;;
    *) command node "$@"; return ;;
  esac
  HEALTH_PORT=\${HEALTH_PORT:-$own} exec node "$@"
}`;

/** Fails when a service has not started once the page says that all are ready. */
const ALL_STARTED = `for service in gateway catalog runtime scheduler chain-pusher; do grep -q '"started"' $service.log; done`;

/** The page's own addresses become those of servers of this test's own, and its ports free ones. */
async function commandsOn(addresses: Readonly<Record<string, string>>): Promise<string> {
  const page = readPage('docs/operations.md').filter(({ text: commands }) => commands.startsWith(MARK));
  expect(page).toHaveLength(4);
  const own = new Map(Object.entries(addresses));
  for (const port of [...READY_AT, '3112', '3122']) own.set(port, String(await freePort()));
  // All at once: a number that one of them has brought in is not another's to replace.
  const known = new RegExp([...own.keys()].join('|').replaceAll('.', '\\.'), 'g');
  const [services = '', ...others] = page.map(({ text: commands }) => commands);
  const script = ['export PORT=3000', NODE, services, ALL_STARTED, ...others]
    .map((commands) => commands.replace(known, (name) => own.get(name) ?? name))
    .join('\n');
  const command = `npx() { shift; node ${join(repositoryRoot, BUILT_COMMAND)} "$@"; }`;
  return ['set -eu', command, script].join('\n');
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
  const late = setTimeout(end, PASTING_MS);
  process.once('exit', end);
  onTestFinished(() => {
    clearTimeout(late);
    process.off('exit', end);
    end();
  });
  shell.stdin.end(script);
  const [output, errors, [code]] = await Promise.all([
    text(shell.stdout),
    text(shell.stderr),
    once(shell, 'close'),
  ]);
  return { output, errors, code, logs: await endsOfLogs(folder) };
}

async function endsOfLogs(folder: string): Promise<string> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.log'));
  const ends = names.map(
    async (name) => `${name}: ${(await readFile(join(folder, name), 'utf8')).slice(-2_000)}`,
  );
  return (await Promise.all(ends)).join('\n');
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
            const { output, errors, code, logs } = await paste(script, folder);
            expect([errors, code], `${output}\n${logs}`).toEqual(['', 0]);
            expect(output.match(/"valid":true/g)).toHaveLength(3);
            expect(output.match(/ runtime-\S+ +\| +2[0-2]$/gm)).toHaveLength(3);
          });
        }),
      { own: true },
    ),
  { own: true },
);
