import type { ConnectionOptions } from '@nats-io/transport-node';

/** `nats://user:password@host:4222`, several separated by commas; the first one's credentials count. */
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
