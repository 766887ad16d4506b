import { requireProgram } from '../backends/find-program.js';
import { dataFolder, runServerProgram, type TestServer } from './server-program.js';

export interface NatsServerOptions {
  /** Where JetStream keeps its data; a folder of its own that goes with the server by default. */
  readonly storeDir?: string;
  /** The port of the server that this one replaces; any free one by default. */
  readonly port?: number;
  /** Ends the server. */
  readonly signal?: AbortSignal;
}

/**
 * Starts a nats-server with JetStream on 127.0.0.1. A restart after `kill()` is a start with the same `storeDir`
 * and `port`; with the same `port` alone it is a server that has lost everything.
 */
export async function startNatsServer(options: NatsServerOptions = {}): Promise<TestServer> {
  const program = await requireProgram('nats-server');
  const { path, temporary } = await dataFolder(options.storeDir);
  let port = options.port ?? -1;
  const readyOn = (line: string) => {
    port = Number(/Listening for client connections on .*:(\d+)/.exec(line)?.[1] ?? port);
    return line.includes('Server is ready');
  };
  const args = ['-a', '127.0.0.1', '-p', String(port), '-js', '-sd', path];
  const server = await runServerProgram({ program, args, temporary, readyOn, signal: options.signal });
  return { ...server, port, url: `nats://127.0.0.1:${port}` };
}
