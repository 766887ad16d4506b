import { StartupError } from '@orrery/service-kit';
import { describe, expect, it } from 'vitest';
import { readGatewayConfig } from './config.js';

describe('the configuration', () => {
  it('is closed, local and limited unless the operator says otherwise', () => {
    expect(readGatewayConfig({})).toMatchObject({
      host: '127.0.0.1',
      port: 3000,
      limits: { bodyLimit: 1_048_576, trustProxy: false },
      deadlineMs: 30_000,
      signIn: {
        isOpen: false,
        publicUrl: 'http://127.0.0.1:3000',
        quotas: { worlds: 10, deployments: 20, aiUsdPerDay: 0, pushesPerDay: 0 },
      },
      rates: {
        key: { burst: 500, perSecond: 100 },
        address: { burst: 120, perSecond: 2 },
        wallet: { burst: 60, perSecond: 1 },
        signIn: { burst: 10 },
      },
    });
  });

  it('names everything that is wrong, once', () => {
    const read = () => readGatewayConfig({ PORT: '70000', BODY_LIMIT: 'much', SIGN_UP: 'maybe' });
    expect(read).toThrow(StartupError);
    expect(read).toThrow(/PORT.*BODY_LIMIT.*SIGN_UP/);
  });

  it('gives an account a quarter of all streams, unless the operator says otherwise', () => {
    const perAccount = (env: object) => readGatewayConfig({ ...env }).streamBounds.perAccount;
    const MAX_STREAMS_PER_ACCOUNT = '90';
    expect([{}, { MAX_STREAMS: '2' }, { MAX_STREAMS_PER_ACCOUNT }].map(perAccount)).toEqual([250, 1, 90]);
  });

  it('limits nothing where that is switched off', () => {
    expect(readGatewayConfig({ RATE_LIMITS: 'off' }).rates).toBeUndefined();
  });

  it.each([
    ['worlds=3', { worlds: 3, deployments: 20, aiUsdPerDay: 0, pushesPerDay: 0 }],
    ['aiUsdPerDay=0.5, worlds=unlimited', { deployments: 20, aiUsdPerDay: 0.5, pushesPerDay: 0 }],
  ])('gives who signs up the quotas of %s', (SIGN_UP_QUOTAS, quotas) => {
    expect(readGatewayConfig({ SIGN_UP_QUOTAS }).signIn.quotas).toEqual(quotas);
  });

  it.each([
    'worlds',
    'worlds=',
    'worlds=-1',
    'worlds=1.5',
    'worlds=1,worlds=2',
    'toString=1',
    'keys=1',
    '{}',
  ])('refuses the quotas "%s"', (SIGN_UP_QUOTAS) => {
    expect(() => readGatewayConfig({ SIGN_UP_QUOTAS })).toThrow(/SIGN_UP_QUOTAS.*worlds=10/);
  });

  it.each([
    ['true', [true, true, true]],
    ['false', [false, false, false]],
    ['10.0.0.0/8, 127.0.0.1,fd00::/8,loopback', [true, true, false]],
  ])('trusts proxies as %s says', (text, expected) => {
    const { trustProxy } = readGatewayConfig({ TRUST_PROXY: text }).limits;
    const trusts = (address: string) => trustProxy !== false && trustProxy(address, 0);
    expect(['10.1.2.3', '::1', '192.0.2.1'].map(trusts)).toEqual(expected);
  });

  it.each(['everyone', '10.0.0.0/33', '10.0.0.0/8/8', '300.1.1.1', '-1'])('refuses to trust "%s"', (text) => {
    expect(() => readGatewayConfig({ TRUST_PROXY: text })).toThrow(/TRUST_PROXY/);
  });

  it('trusts a number of hops', () => {
    const { trustProxy } = readGatewayConfig({ TRUST_PROXY: '2' }).limits;
    const trusts = trustProxy as (address: string, hop: number) => boolean;
    expect([0, 1, 2].map((hop) => trusts('192.0.2.1', hop))).toEqual([true, true, false]);
  });
});
