/** Where a server listens; a host that begins with `/` is the folder of a Unix socket. */
export interface DatabaseHost {
  readonly host: string;
  readonly port: number;
  /** Whether the address says so; else it is PostgreSQL's own, 5432. */
  readonly isPortNamed: boolean;
}

/** An address whose servers are named in a list, as libpq reads it (PostgreSQL manual, 34.1.1.3). */
export interface DatabaseHosts {
  /** The same address with the first host alone, and without what we set ourselves, as the driver takes it. */
  readonly url: string;
  /** The address's own settings for a session, as `-c name=value`; empty without any. */
  readonly options: string;
  readonly hosts: readonly DatabaseHost[];
  /** A slash and the database's name. */
  readonly path: string;
}

const DEFAULT_PORT = 5432;
const ADDRESS = /^(postgres(?:ql)?:\/\/(?:[^@/?]*@)?)([^/?]*)(\/[^?]*)?(?:\?(.*))?$/;
/** Of several servers the one that takes writes is used, so other wishes cannot be met. */
const TARGETS = ['read-write', 'primary'];
/** The driver would take these from the address in place of what we tell it. */
const OURS = ['target_session_attrs', 'options', 'application_name'];
/** Bounds that differ from pool to pool. */
const BOUNDS = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'query_timeout'];

/**
 * Reads `postgres://user:password@one:5432,two:5432/orrery?target_session_attrs=read-write`, also with the hosts in the
 * parameters `host` and `port`. @throws TypeError for an address that cannot be meant
 */
export function readHosts(address: string): DatabaseHosts {
  const [, before, authority = '', path = '', query = ''] = ADDRESS.exec(address) ?? [];
  if (before === undefined) throw new TypeError('it is no address of PostgreSQL');
  const parameters = new URLSearchParams(query);
  refuseUnmet(parameters);
  const options = parameters.get('options') ?? '';
  const listed = hostsOf(parameters);
  // As in libpq, the parameters go before.
  const named = listed.length > 0 || authority === '' ? listed : authority.split(',').map(readHost);
  const ours = OURS.filter((name) => parameters.has(name));
  if (named.length < 2 && ours.length === 0) return { url: address, options, hosts: named, path };
  for (const name of ours) parameters.delete(name);
  const [first] = named;
  if (first !== undefined) {
    parameters.set('host', first.host);
    parameters.set('port', String(first.port));
  }
  return { url: `${before}${path}?${parameters}`, options, hosts: named, path };
}

function refuseUnmet(parameters: URLSearchParams): void {
  const target = parameters.get('target_session_attrs');
  if (target !== null && !TARGETS.includes(target))
    throw new TypeError(`target_session_attrs must be read-write or primary, not ${target}`);
  const bound = BOUNDS.find((name) => parameters.has(name));
  if (bound !== undefined) throw new TypeError(`Orrery sets ${bound} itself, so leave it out`);
}

function readHost(text: string): DatabaseHost {
  const [, host = '', port] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(text) ?? [];
  if (host === '') throw new TypeError(`"${text}" is no host`);
  return placeOf(decodeURIComponent(host).replace(/^\[|\]$/g, ''), port);
}

/** One port serves all hosts, or each has its own. */
function hostsOf(parameters: URLSearchParams): DatabaseHost[] {
  const hosts = parameters.get('host')?.split(',') ?? [];
  const ports = parameters.get('port')?.split(',') ?? [];
  if (hosts.length > 0 && ports.length > 1 && ports.length !== hosts.length)
    throw new TypeError(`${hosts.length} hosts need one port or ${hosts.length}`);
  return hosts.map((host, index) => placeOf(host, ports[index] ?? ports[0]));
}

const placeOf = (host: string, port: string | undefined): DatabaseHost => ({
  host,
  port: Number(port ?? DEFAULT_PORT),
  isPortNamed: port !== undefined,
});

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
