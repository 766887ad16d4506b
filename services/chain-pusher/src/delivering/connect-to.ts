import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import type { AllowsAddress } from '../core/webhooks/address-rules.js';

/** The IP addresses of a name. Rejects as soon as the signal aborts, and where there is none. */
export type Resolve = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

const DNS = { timeout: 2000, tries: 2 };
/** Addresses of a name that are looked at. */
const MAX_ADDRESSES = 32;

/**
 * Asks the machine's DNS servers, in sockets of its own: the `getaddrinfo` of the system runs in one of four threads, which
 * a few silent servers of strangers would take from everyone. It knows no `/etc/hosts`.
 */
export const resolveName: Resolve = async (name, signal) => {
  // RFC 6761 §6.3
  if (/^(.+\.)?localhost\.?$/.test(name)) return ['127.0.0.1'];
  signal.throwIfAborted();
  const resolver = new Resolver(DNS);
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const families = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = families.flatMap((found) => (found.status === 'fulfilled' ? found.value : []));
    if (addresses.length === 0) throw new NameNotFound(name);
    return addresses;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
};

export class NameNotFound extends Error {
  override readonly name = 'NameNotFound';
}

/** The address of a server is one that nothing may be sent to. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
}

/** A host in a URL that is an address. @throws AddressRefused */
export function checkLiteral(host: string, allows: AllowsAddress): void {
  const literal = host.replace(/^\[(.*)\]$/, '$1');
  if (isIP(literal) !== 0 && !allows(literal)) throw new AddressRefused(host);
}

/**
 * What a socket asks for the addresses that it connects to: only those that were checked, all of them in one answer, so
 * that a name cannot change between check and use.
 */
export const lookupWith =
  (resolve: Resolve, allows: AllowsAddress, signal: AbortSignal): LookupFunction =>
  (host, options, done) => {
    resolve(host, signal)
      .then((addresses) => {
        if (!addresses.every(allows)) throw new AddressRefused(host);
        return addresses.slice(0, MAX_ADDRESSES).map((address) => ({ address, family: isIP(address) }));
      })
      .then(
        (found) => {
          const [first] = found;
          if (options.all === true) done(null, found);
          else if (first === undefined) done(new NameNotFound(host), '');
          else done(null, first.address, first.family);
        },
        (error: Error) => done(error, options.all === true ? [] : ''),
      );
  };
