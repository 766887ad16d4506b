import { describe, expect, it } from 'vitest';
import { isProxyList, trustedProxies } from './clients.js';

describe('the list of proxies', () => {
  it.each(['true', 'false', '2', '10.0.0.1', '10.0.0.0/8, ::1/128', 'loopback,uniquelocal'])(
    'may be %s',
    (text) => {
      expect(isProxyList(text)).toBe(true);
    },
  );

  it.each(['', 'yes', '10.0.0.0/33', '10.0.0.0/8/8', '300', 'proxy.example'])('may not be "%s"', (text) => {
    expect(isProxyList(text)).toBe(false);
  });

  it('trusts all, none, some hops or some networks', () => {
    expect(trustedProxies('false')).toBe(false);
    const trusts = (text: string, address: string, hop: number) => {
      const trust = trustedProxies(text);
      return trust !== false && trust(address, hop);
    };
    expect(trusts('true', '192.0.2.1', 9)).toBe(true);
    expect([trusts('1', '192.0.2.1', 0), trusts('1', '192.0.2.1', 1)]).toEqual([true, false]);
    expect([trusts('10.0.0.0/8', '10.9.9.9', 0), trusts('10.0.0.0/8', '11.0.0.1', 0)]).toEqual([true, false]);
  });
});
