import { canonicalJson, type JsonValue, ServiceError, type VersionBody } from '@orrery/contracts';

/** A version's body with one place for what may be spelled in two. */
export type VersionPatch = Omit<VersionBody, 'stateChangeSchema'>;

/**
 * Brings the spellings together: `stateChangeSchema` is `stateChanges`, and the prompt in `mutationSettings` is the one
 * at the top (decisions §3).
 *
 * @throws ServiceError `conflicting_fields` when both are given and differ.
 */
export function readSpellings({ stateChangeSchema, ...body }: VersionBody, pointer = ''): VersionPatch {
  const patch: VersionPatch = { ...body };
  const changes = agreed(
    body.stateChanges,
    stateChangeSchema,
    `${pointer}/stateChangeSchema`,
    'stateChanges',
  );
  if (changes !== undefined) patch.stateChanges = changes;
  const inner = body.mutationSettings?.behaviorPrompt;
  const place = `${pointer}/mutationSettings/behaviorPrompt`;
  const prompt = agreed(body.behaviorPrompt, inner, place, 'behaviorPrompt');
  if (prompt !== undefined) patch.behaviorPrompt = prompt;
  return patch;
}

function agreed<T extends JsonValue>(
  first: T | undefined,
  second: T | undefined,
  pointer: string,
  field: string,
): T | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  if (canonicalJson(first) === canonicalJson(second)) return first;
  const message = `"${field}" is given twice, with different values.`;
  throw new ServiceError('conflicting_fields', message, {
    errors: [{ pointer, code: 'conflicting_fields', message }],
  });
}
