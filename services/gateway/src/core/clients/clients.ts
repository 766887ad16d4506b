import type { IncomingMessage } from 'node:http';
import { isIP, isIPv6 } from 'node:net';
import { compile } from '@fastify/proxy-addr';

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

/** Whether a proxy may state the client address, by its own address and how many hops before the server it is. */
export type ProxyTrust = false | ((address: string, hop: number) => boolean);

const HOPS = /^\d{1,2}$/;
const NETWORKS = new Set(['loopback', 'linklocal', 'uniquelocal']);

/** Whether `TRUST_PROXY` is valid: `true`, `false`, a number of hops, or addresses and networks by commas. */
export const isProxyList = (text: string): boolean =>
  text === 'true' ||
  text === 'false' ||
  HOPS.test(text) ||
  text.split(',').every((one) => isProxy(one.trim()));

function isProxy(text: string): boolean {
  const [address = '', bits = '0', ...rest] = text.split('/');
  const size = isIP(address) === 6 ? 128 : 32;
  const isNetwork = isIP(address) > 0 && rest.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= size;
  return isNetwork || NETWORKS.has(text);
}

/** Which proxies may state the client address, from a valid `TRUST_PROXY`. */
export function trustedProxies(text: string): ProxyTrust {
  if (text === 'true') return () => true;
  if (text === 'false') return false;
  if (!HOPS.test(text)) return compile(text.split(',').map((one) => one.trim()));
  const hops = Number(text);
  return (_address, hop) => hop < hops;
}
