import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readStandaloneSettings } from './config.js';

const read = (env: Record<string, string>) => readStandaloneSettings(env, () => undefined);

describe('the settings of the all-in-one', () => {
  it('need nothing', () => {
    expect(read({})).toMatchObject({
      dataDirectory: resolve('.orrery'),
      databaseUrl: undefined,
      natsUrl: undefined,
      gateway: { host: '127.0.0.1', port: 3000, redisUrl: undefined },
    });
  });

  it.each<Record<string, string>>([
    {},
    { HOST: 'localhost' },
    { HOST: '::1' },
    { HOST: '' },
    { RATE_LIMITS: '' },
  ])('limit no rates on a loopback address: %o', (env) => {
    expect(read(env).gateway.rates).toBeUndefined();
  });

  it.each([{ HOST: '0.0.0.0' }, { RATE_LIMITS: 'true' }, { DATABASE_URL: 'postgres://db/orrery' }])(
    'limit rates where others can come, or where asked to: %o',
    (env) => {
      expect(read(env).gateway.rates).toMatchObject({ key: { perSecond: 100, burst: 500 } });
    },
  );
});
