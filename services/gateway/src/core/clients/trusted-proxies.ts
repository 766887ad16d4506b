import { isIP } from 'node:net';
import { compile } from '@fastify/proxy-addr';

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
