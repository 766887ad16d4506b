import { z } from 'zod';
import { ServiceError } from '../errors/service-error.js';
import { canonicalHash, type JsonObject } from '../json/json.js';

/** Header of an operation that changes only what the caller has seen. */
export const ifMatch = z.strictObject({
  'if-match': z
    .string()
    .min(1)
    .max(255)
    .optional()
    .describe(
      'The `ETag` that the caller has read, in quotes. Where it has another one by now, that is 412.',
    ),
});

/** What changes without an update: by other operations, or by what surrounds a record. */
const UNTAGGED = new Set([
  'updatedAt',
  'versionHash',
  'latestVersion',
  'isPublic',
  'isPaused',
  'mode',
  'lockedAt',
  'isLocked',
  'definitionHash',
]);

/** The `ETag` of a record: 32 hexadecimal digits that are others once an update has changed it. */
const tagOf = (record: object): string => {
  const members = Object.entries(record).filter(
    ([name, value]) => value !== undefined && !UNTAGGED.has(name),
  );
  return canonicalHash(Object.fromEntries(members) as JsonObject).slice(0, 32);
};

/** A reply with a record and its `ETag`. */
export const tagged = <T extends object>(data: T): { data: T; etag: string } => ({ data, etag: tagOf(data) });

/** Whether `If-Match` (RFC 9110 §13.1.1) names a tag: `"a"`, `W/"a"`, `a`, several of these, or `*` for any. */
export const isMatch = (given: string | undefined, tag: string): boolean =>
  given === undefined ||
  given.trim() === '*' ||
  given.split(',').some((one) => /^(?:W\/)?"?([^"]*)"?$/.exec(one.trim())?.[1] === tag);

/** @throws ServiceError `revision_mismatch` where the record was changed since the caller has read it */
export function refuseChanged(given: string | undefined, record: object): void {
  const etag = tagOf(record);
  if (isMatch(given, etag)) return;
  const advice = 'It was changed after you had read it. Read it again, and decide what to keep.';
  throw new ServiceError('revision_mismatch', `Its ETag is "${etag}" by now. ${advice}`, { facts: { etag } });
}
