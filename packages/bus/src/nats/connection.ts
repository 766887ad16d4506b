import { JetStreamApiError } from '@nats-io/jetstream';
import {
  type ConnectionOptions,
  connect,
  type Msg,
  type NatsConnection,
  PermissionViolationError,
  type Subscription,
} from '@nats-io/transport-node';
import { type Logger, StartupError, systemClock } from '@orrery/service-kit';
import { unsent } from '../in-flight/in-flight.js';
import { reconnectPause } from './reconnect-pause.js';
import { inboxOf, subjectsUnder } from './subjects.js';

/** A connection that reconnects by itself for as long as the process lives. */
export interface Connection {
  readonly nats: NatsConnection;
  readonly up: boolean;
  /** @throws ServiceError `unavailable` while disconnected: a message sent then would silently be lost. */
  requireUp(): void;
  /** The subject of this name, under the installation's prefix. */
  named(subject: string): string;
  /** What the subjects that only this process receives begin with. */
  readonly inboxPrefix: string;
  /** Subscribes to a subject. An error of `receive` is logged: thrown to the client, it would end the client's reading. */
  subscribe(subject: string, receive: (message: Msg) => void, queue?: string): Subscription;
  /** `onDown` is called at each loss, `onUp` at each return. */
  watch(watcher: ConnectionWatcher): void;
}

interface Naming {
  readonly service: string;
  readonly subjectPrefix: string;
}

interface ConnectionWatcher {
  onDown?(): void;
  onUp?(): void;
}

const CONNECT_TIMEOUT_MS = 5000;
const RECONNECT_WAIT_MS = 250;
const PING_INTERVAL_MS = 10_000;

/** One try. @throws StartupError when none of the servers answers. */
export async function openConnection(
  urls: string,
  { service, subjectPrefix }: Naming,
  logger: Logger,
): Promise<Connection> {
  const inboxPrefix = inboxOf(service, subjectPrefix);
  const nats = await dial(urls, service, inboxPrefix);
  const watchers: ConnectionWatcher[] = [];
  let up = true;
  const follow = async () => {
    for await (const status of nats.status()) {
      const { type } = status;
      if (status.type === 'error' && status.error instanceof PermissionViolationError) {
        const { operation, subject } = status.error;
        logger.error(
          { operation, subject },
          'NATS refuses a subject: its users must be those of this release',
        );
      }
      if (type === 'disconnect' && up) {
        up = false;
        logger.warn('NATS is away, reconnecting');
        for (const { onDown } of watchers) onDown?.();
      }
      if (type === 'reconnect') {
        up = true;
        logger.info('NATS is back');
        for (const { onUp } of watchers) onUp?.();
      }
    }
    up = false;
  };
  follow().catch((error: unknown) =>
    logger.error({ err: error }, 'the connection status of NATS is no longer known'),
  );
  return {
    nats,
    inboxPrefix,
    named: subjectsUnder(subjectPrefix),
    get up() {
      return up && !nats.isClosed();
    },
    requireUp() {
      if (!up || nats.isClosed()) throw unsent();
    },
    subscribe: (subject, receive, queue) => {
      const callback = (failed: Error | null, message: Msg) => {
        if (failed !== null) return;
        try {
          receive(message);
        } catch (error) {
          logger.error({ err: error, subject }, 'a message could not be received');
        }
      };
      return nats.subscribe(subject, { callback, ...(queue !== undefined && { queue }) });
    },
    watch: (watcher) => watchers.push(watcher),
  };
}

/** @throws StartupError for a server that does not accept the largest message. */
export function requireRoom({ nats }: Connection, bytes: number): void {
  const most = nats.info?.max_payload ?? 0;
  if (most < bytes)
    throw new StartupError(
      `NATS at ${nats.getServer()} accepts ${most} bytes a message: set its max_payload to ${bytes} or more.`,
    );
}

async function dial(urls: string, service: string, inboxPrefix: string): Promise<NatsConnection> {
  const servers = readServers(urls);
  try {
    return await connect({
      ...servers,
      name: service,
      inboxPrefix,
      timeout: CONNECT_TIMEOUT_MS,
      maxReconnectAttempts: -1,
      reconnectDelayHandler: reconnectPause(RECONNECT_WAIT_MS, systemClock.monotonic),
      pingInterval: PING_INTERVAL_MS,
      ignoreAuthErrorAbort: true,
      // Else the client captures a stack trace for each request, which halves what it carries.
      noAsyncTraces: true,
    });
  } catch (error) {
    throw unusable([servers.servers].flat().join(', '), error);
  }
}

/** Why the servers at these addresses cannot be used now. */
export function unusable(where: string, cause: unknown): StartupError {
  const why = cause instanceof Error ? cause.message : 'no answer';
  return new StartupError(`NATS at ${where} cannot be used (${why}): ${adviceFor(cause)}.`, { cause });
}

/** By the codes of JetStream. */
const ADVICE: Readonly<Record<number, string>> = {
  10047: 'set NATS_MAX_MIB to less, or give its JetStream more storage (max_file_store)',
  10074: 'set NATS_REPLICAS to 1, or name the servers of a cluster in NATS_URL',
};

/** A server that refuses the stream runs, so nobody has to start it. */
const adviceFor = (cause: unknown): string =>
  cause instanceof JetStreamApiError
    ? (ADVICE[cause.code] ?? 'correct its JetStream, or NATS_MAX_MIB and NATS_REPLICAS')
    : 'start it there or set NATS_URL';

/** `nats://user:password@host:4222`, several separated by commas; the credentials of the first are used. */
export function readServers(
  urls: string,
): Pick<ConnectionOptions, 'servers' | 'user' | 'pass' | 'token' | 'tls'> {
  const parsed = urls.split(',').map((url) => new URL(url.trim()));
  const [first] = parsed;
  const user = decodeURIComponent(first?.username ?? '');
  const pass = decodeURIComponent(first?.password ?? '');
  return {
    servers: parsed.map(({ hostname, port }) => `${hostname}:${port === '' ? 4222 : port}`),
    ...(user !== '' && pass !== '' ? { user, pass } : {}),
    ...(user !== '' && pass === '' ? { token: user } : {}),
    ...(first?.protocol === 'tls:' ? { tls: {} } : {}),
  };
}
