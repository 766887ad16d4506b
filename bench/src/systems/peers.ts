import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { arch, platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Resources } from '@orrery/service-kit';
import { freePort } from '@orrery/testing/servers';
import type { Rate } from '../measuring/report.js';

const run = promisify(execFile);

/** Installed when the benchmark runs: a server of 150 MB that nothing else of Orrery needs. */
const PACKAGES = [
  '@restatedev/restate-server@1.7.12',
  '@restatedev/restate-sdk@1.17.2',
  '@dbos-inc/dbos-sdk@5.3.0',
];
const PROGRAMS = ['restate-counter.mjs', 'dbos-counter.mjs'];

/** Other systems that make a call durable, in a folder with their packages. */
export class Peers {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** @throws Error when the npm registry does not answer */
  static async install(): Promise<Peers> {
    const folder = join(tmpdir(), 'orrery-bench-peers');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'package.json'), '{ "private": true }');
    await run('npm', ['install', '--no-save', '--ignore-scripts', '--no-audit', ...PACKAGES], {
      cwd: folder,
    });
    for (const program of PROGRAMS) {
      const source = fileURLToPath(new URL(`../../programs/${program}`, import.meta.url));
      await copyFile(source, join(folder, program));
    }
    return new Peers(folder);
  }

  /** Starts Restate with the counter registered, and answers the address that takes calls. Its data lies in the folder. */
  async startRestate(dataFolder: string, resources: Resources): Promise<string> {
    const [service, ingress, admin, node] = await Promise.all(Array.from({ length: 4 }, freePort));
    const name = `@restatedev/restate-server-${platform()}-${arch()}`;
    const server = join(this.#folder, 'node_modules', name, 'bin', 'restate-server');
    const env = {
      RESTATE_LISTEN_MODE: 'tcp',
      RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
      RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
      RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
      RESTATE_DISABLE_TELEMETRY: 'true',
    };
    const started = [
      spawn(process.execPath, [join(this.#folder, 'restate-counter.mjs'), String(service)], {
        stdio: 'ignore',
      }),
      spawn(server, ['--base-dir', dataFolder, '--node-name', 'bench'], { env, stdio: 'ignore' }),
    ];
    for (const child of started) resources.add('restate', () => ended(child));
    await untilRegistered(`http://127.0.0.1:${admin}/deployments`, `http://127.0.0.1:${service}`);
    return `http://127.0.0.1:${ingress}`;
  }

  /** Calls a DBOS workflow of one step again and again, `clients` at once, in a process of its own. */
  async measureDbos(databaseUrl: string, seconds: number, clients: number): Promise<Rate> {
    const program = join(this.#folder, 'dbos-counter.mjs');
    const { stdout } = await run(process.execPath, [program, databaseUrl, String(seconds), String(clients)]);
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill();
  await once(child, 'exit');
}

/** How long a server may take to start, in milliseconds. */
const START_MS = 60_000;

async function untilRegistered(url: string, uri: string): Promise<void> {
  const body = JSON.stringify({ uri });
  const headers = { 'content-type': 'application/json' };
  for (const until = performance.now() + START_MS; ; ) {
    const answer = await fetch(url, { method: 'POST', headers, body }).catch(() => undefined);
    if (answer?.ok) return;
    if (performance.now() > until) throw new Error('Restate has not started');
    await setTimeout(200);
  }
}
