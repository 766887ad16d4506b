import { BlockList, isIP, isIPv4 } from 'node:net';

/** Whether a server may be connected to at an IP address. */
export type AllowsAddress = (address: string) => boolean;

/**
 * What no server on the internet has: the special-purpose registries of IANA (RFC 6890), multicast, and addresses by which
 * clouds tell their machines secrets.
 */
const NOT_PUBLIC_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
];
/** Of IPv6 only this is given to networks; of that not what holds other addresses (6to4, Teredo) or none. */
const GLOBAL_V6 = ['2000::/3'];
const NOT_PUBLIC_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];
/** An IPv4 address stands in the last 32 bits (RFC 4291 §2.5.5.2, RFC 6052). */
const HOLDS_V4 = networks(['::ffff:0:0/96', '64:ff9b::/96']);

const notPublic = networks([...NOT_PUBLIC_V4, ...NOT_PUBLIC_V6]);
const global = networks(GLOBAL_V6);

/** The networks of a list such as `10.0.0.0/8`, `fd00::/8`; one that is not valid is undefined. */
export function readNetworks(text: string): BlockList | undefined {
  const parts = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  return parts.every(isNetwork) ? networks(parts) : undefined;
}

function isNetwork(text: string): boolean {
  const [, address = '', bits = ''] = /^([^/%]+)\/(0|[1-9]\d{0,2})$/.exec(text) ?? [];
  const family = isIP(address);
  return family !== 0 && Number(bits) <= (family === 4 ? 32 : 128);
}

function networks(list: readonly string[]): BlockList {
  const blocks = new BlockList();
  for (const one of list) {
    const [address = '', bits = ''] = one.split('/');
    blocks.addSubnet(address, Number(bits), isIPv4(address) ? 'ipv4' : 'ipv6');
  }
  return blocks;
}

/** Public addresses, and those of the networks that the operator allows. An IPv4 address in the form of IPv6 is judged as itself. */
export function createAddressRules(allowed: BlockList): AllowsAddress {
  return (address) => {
    const family = isIP(address);
    if (family === 0 || address.includes('%')) return false;
    const judged = family === 4 ? address : (heldV4(address) ?? address);
    const kind = isIPv4(judged) ? 'ipv4' : 'ipv6';
    if (allowed.check(judged, kind)) return true;
    return !notPublic.check(judged, kind) && (kind === 'ipv4' || global.check(judged, kind));
  };
}

function heldV4(address: string): string | undefined {
  if (!HOLDS_V4.check(address, 'ipv6')) return undefined;
  // The URL parser has one spelling of an address, with at most four hex digits in a group.
  const host = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const groups = host.endsWith('::') ? ['0', '0'] : host.replace('::', ':0:0:').split(':').slice(-2);
  const bytes = groups.flatMap((group) => {
    const value = Number.parseInt(group || '0', 16);
    return [value >> 8, value & 0xff];
  });
  return bytes.join('.');
}
