import { expect, it } from 'vitest';
import { type OccurrenceKey, occurrenceKey, readOccurrenceKey } from './service-executions.js';

const common = { deployment: `0x${'ab'.repeat(20)}`, attempt: 2 };
const keys: readonly OccurrenceKey[] = [
  { ...common, kind: 'due', position: Date.UTC(2030, 0, 1, 12), event: 'train' },
  { ...common, kind: 'run', position: 417, event: 'a/b\nrun 5/1/c' },
];

it.each(keys)('$kind: what is written can be read', (key) => {
  expect(readOccurrenceKey(occurrenceKey(key))).toEqual(key);
});

it.each([
  '',
  'occurrence 5',
  '0x1/soon/1/train',
  '0x1/2030-13-45T00:00:00.000Z/1/train',
  '0x1/run x/1/train',
])('reads nothing in %j', (key) => expect(readOccurrenceKey(key)).toBeUndefined());
