import { readHosts } from './database-hosts.js';

/** Hosts, ports and database name of an address, for messages: never the user or the password. */
export function describeAddress(url: string): string {
  try {
    const { hosts, path } = readHosts(url);
    const places = hosts.map(({ host, port, isPortNamed }) => (isPortNamed ? `${host}:${port}` : host));
    return `${places.join(',') || 'localhost'}${path}`;
  } catch {
    return 'the address of DATABASE_URL';
  }
}
