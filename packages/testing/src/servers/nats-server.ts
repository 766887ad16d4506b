import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { requireProgram } from '../programs/find-program.js';
import { freePort } from './free-port.js';
import { dataFolder, runServerProgram, type TestServer } from './server-program.js';

export interface NatsServerOptions {
  /** Folder of JetStream's data. By default a temporary one, removed with the server. */
  readonly storeDir?: string;
  /** Port of the server that this one replaces. Default: any free port. */
  readonly port?: number;
  /** Content of a configuration file. */
  readonly config?: string;
  /** Variables that the configuration refers to. */
  readonly env?: Readonly<Record<string, string>>;
  /** Further arguments, such as those of a cluster. */
  readonly args?: readonly string[];
}

/**
 * Starts a nats-server with JetStream on 127.0.0.1. To restart it after `kill()`, pass the same `storeDir` and `port`;
 * with the same `port` alone it is a server that has lost its data.
 */
export async function startNatsServer(options: NatsServerOptions = {}): Promise<TestServer> {
  const program = await requireProgram('nats-server');
  const { path, temporary } = await dataFolder(options.storeDir);
  const port = options.port ?? (await freePort());
  const readyOn = (line: string) => line.includes('Server is ready');
  const { config, env, args: more = [] } = options;
  const args = ['-a', '127.0.0.1', '-p', String(port), '-js', '-sd', path, ...more];
  if (config !== undefined) {
    const file = join(path, 'nats-server.conf');
    await mkdir(path, { recursive: true });
    await writeFile(file, config);
    args.push('-c', file);
  }
  const own = { ...program, env: { ...program.env, ...env } };
  const server = await runServerProgram({ program: own, args, temporary, readyOn });
  return { ...server, port, url: `nats://127.0.0.1:${port}` };
}
