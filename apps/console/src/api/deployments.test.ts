import { expect, it } from 'vitest';
import { instanceKey, splitKey } from './deployments.js';

it('keys are split at the first colon', () => {
  const name = { entitySchema: 'horse', instanceId: 'a:b' };
  expect(splitKey(instanceKey(name))).toEqual(name);
});
