import { expect, it } from 'vitest';
import { lifecycleEntry } from './lifecycle-entry.js';

it('an entry that is no execution holds its facts as its input', () => {
  const entry = lifecycleEntry('paused', '0xab', { kind: 'service', service: 'gateway' }, 0, {
    by: 'account',
  });
  expect(entry).toMatchObject({
    kind: 'paused',
    input: { by: 'account' },
    decidedAt: '1970-01-01T00:00:00.000Z',
  });
});
