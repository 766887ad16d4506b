import { ServiceError } from '@orrery/contracts';
import { changeKey } from '../journal/change.js';
import type { AppliedChange } from './apply-changes.js';
import type { ReadSet } from './read-entities.js';

/** A model changes only instances that it was shown, or new ones (decisions §4 "AI"). */
export function refuseUnloaded(changes: readonly AppliedChange[], { reads }: ReadSet): void {
  const loaded = new Set(reads.map(changeKey));
  for (const change of changes) {
    if (change.before === null || loaded.has(changeKey(change))) continue;
    throw new ServiceError('change_not_allowed', `${changeKey(change)} exists and was not read`, {
      facts: { key: changeKey(change), reason: 'not_loaded' },
    });
  }
}
