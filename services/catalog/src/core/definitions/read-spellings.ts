import {
  type ChangeMode,
  canonicalJson,
  childPointer,
  type JsonValue,
  type ModeMap,
  type ReadEntity,
  ServiceError,
  toNfc,
  type VersionBody,
} from '@orrery/contracts';

/** A version's body with one spelling for each field. */
export type VersionPatch = Omit<VersionBody, 'stateChangeSchema'>;

/**
 * Unifies spellings: `stateChangeSchema` means `stateChanges`, and the prompt in `mutationSettings` means the one
 * at the top level. Schema names become NFC, as they are stored (docs/catalog.md).
 *
 * @throws ServiceError `conflicting_fields` when two spellings of one thing are given and differ.
 */
export function readSpellings({ stateChangeSchema, ...body }: VersionBody, pointer = ''): VersionPatch {
  const patch: VersionPatch = { ...body };
  if (body.readEntities) patch.readEntities = body.readEntities.map(withNameInNfc);
  const changes = agreed(
    inNfc(body.stateChanges, `${pointer}/stateChanges`),
    inNfc(stateChangeSchema, `${pointer}/stateChangeSchema`),
    `${pointer}/stateChangeSchema`,
    'stateChanges',
  );
  if (changes !== undefined) patch.stateChanges = changes;
  const inner = body.mutationSettings?.behaviorPrompt;
  const innerPointer = `${pointer}/mutationSettings/behaviorPrompt`;
  const prompt = agreed(body.behaviorPrompt, inner, innerPointer, 'behaviorPrompt');
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
  throw conflict(pointer, field);
}

function conflict(pointer: string, field: string): ServiceError {
  const message = `"${field}" is given twice, with different values.`;
  return new ServiceError('conflicting_fields', message, {
    errors: [{ pointer, code: 'conflicting_fields', message }],
  });
}

const withNameInNfc = (read: ReadEntity): ReadEntity => ({ ...read, schema: toNfc(read.schema) });

type Modes = ModeMap | null | undefined;

function inNfc(modes: Modes, pointer: string): Modes {
  if (!modes) return modes;
  const named = new Map<string, ChangeMode>();
  for (const [name, mode] of Object.entries(modes)) {
    const stored = toNfc(name);
    if ((named.get(stored) ?? mode) !== mode) throw conflict(childPointer(pointer, name), stored);
    named.set(stored, mode);
  }
  return Object.fromEntries(named);
}
