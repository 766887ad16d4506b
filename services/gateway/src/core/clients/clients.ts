import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';

/** The subject that a client address counts as. An IPv6 client has a whole /64; an IPv4 address may have its IPv6 form. */
export function clientSubject(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  return isIPv6(address) ? `${networkOf(address)}::/64` : address;
}

/** The first four groups, `::` written out. */
function networkOf(address: string): string {
  const [head = '', tail = ''] = address.split('%')[0]?.split('::') ?? [];
  const before = head.split(':').filter(Boolean);
  const after = tail.split(':').filter(Boolean);
  const zeros = address.includes('::') ? Array(Math.max(0, 8 - before.length - after.length)).fill('0') : [];
  const groups = [...before, ...zeros, ...after].slice(0, 4);
  return groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':');
}

const LOOPBACK = /^(::1|(::ffff:)?127\.\d+\.\d+\.\d+)$/;
/** A proxy on this machine is a neighbour too, but its clients are not. */
const OF_PROXIES = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'];

/** Whether a request was sent on this machine: over loopback, and not by a proxy for somebody else. */
export const isFromHere = ({ raw: { socket, headers } }: { raw: IncomingMessage }): boolean =>
  LOOPBACK.test(socket.remoteAddress ?? '') && OF_PROXIES.every((name) => headers[name] === undefined);
