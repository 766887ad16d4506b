import { requireProgram } from '../programs/find-program.js';
import { freePort } from './free-port.js';
import { dataFolder, runServerProgram, type TestServer } from './server-program.js';

export interface RedisServerOptions {
  /** Port of the server that this one replaces. Default: any free port. */
  readonly port?: number;
}

/** Starts Redis on 127.0.0.1 without persistence. */
export async function startRedisServer(options: RedisServerOptions = {}): Promise<TestServer> {
  const program = await requireProgram('redis-server');
  const port = options.port ?? (await freePort());
  const { path, temporary } = await dataFolder(undefined);
  const address = ['--bind', '127.0.0.1', '--port', String(port)];
  const args = [...address, '--dir', path, '--save', '', '--appendonly', 'no'];
  const readyOn = (line: string) => line.includes('Ready to accept connections');
  const server = await runServerProgram({ program, args, temporary, readyOn });
  return { ...server, port, url: `redis://127.0.0.1:${port}` };
}
