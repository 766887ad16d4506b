import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { StartupError } from '../environment/startup-error.js';

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
  /** The variable that chooses the port, to be named when the port is taken. */
  readonly variable: string;
}

/** Listens and returns the port. @throws StartupError when the port is taken, forbidden or no such address exists. */
export async function listen(server: Server, address: ListenAddress): Promise<number> {
  try {
    server.listen(address.port, address.host);
    await once(server, 'listening');
  } catch (error) {
    throw listenFailure(error, address);
  }
  return (server.address() as AddressInfo).port;
}

/** Turns a failed `listen` into a StartupError that says what to do; other errors are returned as they are. */
export function listenFailure(error: unknown, { host, port, variable }: ListenAddress): unknown {
  const advice: Record<string, string> = {
    EADDRINUSE: `Port ${port} on ${host} is in use: stop the program that holds it or set ${variable} to another port.`,
    EACCES: `Port ${port} on ${host} may not be used by this user: set ${variable} to a port above 1023.`,
    EADDRNOTAVAIL: `This machine has no address ${host}: set another host to listen on.`,
    ENOTFOUND: `The host ${host} is not known here: set another host to listen on.`,
  };
  const message = advice[(error as NodeJS.ErrnoException).code ?? ''];
  return message === undefined ? error : new StartupError(message, { cause: error });
}
