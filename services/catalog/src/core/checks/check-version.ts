import {
  type AttributeDefinition,
  closest,
  type FieldProblem,
  fieldProblem,
  MAX_PROBLEMS,
  type VersionBody,
  writeInstead,
} from '@orrery/contracts';
import { COMPARISONS, comparable, findUnfitLiterals } from '@orrery/expressions';
import { contentBytes } from '../definitions/content-hash.js';
import { mergeVersion } from '../definitions/merge-version.js';
import { readSpellings } from '../definitions/read-spellings.js';
import type { StoredVersion } from '../definitions/stored-version.js';
import { below, noSuch, type ProblemKind, refuseProblems } from '../problems.js';
import { type ModeMapSpelling, type NamedSchema, schemasWithPointers, TEMPLATE } from './names-in-version.js';
import { versionProblems } from './version-problems.js';
import { versionWarnings } from './version-warnings.js';

/** A version as it is to be saved. */
export interface WrittenVersion {
  readonly definition: StoredVersion;
  /** What it takes the place of. */
  readonly saved: StoredVersion;
  readonly spelling: ModeMapSpelling;
}

/**
 * Merges a body into the current version.
 *
 * @param pointer to the body in the request
 * @throws ServiceError `conflicting_fields`; `validation_failed` for what is too large: nothing else is looked for in it
 */
export function writeVersion(
  current: StoredVersion,
  body: VersionBody,
  maxBytes: number,
  pointer: string,
): WrittenVersion {
  const definition = mergeVersion(current, readSpellings(body, pointer));
  const bytes = contentBytes(definition);
  const message = `A definition may take at most ${maxBytes} bytes; this one takes ${bytes}.`;
  const problems = bytes > maxBytes ? [fieldProblem('', 'too_large', message)] : [];
  refuseProblems([{ code: 'validation_failed', problems }], pointer);
  const spelling = body.stateChanges === undefined ? 'stateChangeSchema' : 'stateChanges';
  return { definition, saved: current, spelling };
}

/** What a world has of that which a version names. */
export interface WorldAround {
  /** The schemas that it names. */
  readonly named: readonly NamedSchema[];
  /** The names of all schemas; they need to be known only if one of these is not there. */
  readonly known: readonly string[];
  /** The names of all events; they need to be known only if it names any. */
  readonly events: readonly string[];
}

/** What is wrong with a version and what is likely to be, with pointers into it. @param now see `versionProblems` */
export function checkVersion(
  { definition, saved, spelling }: WrittenVersion,
  { named, known, events }: WorldAround,
  now: number,
): { kinds: ProblemKind[]; warnings: FieldProblem[] } {
  const attributes = new Map(named.map((schema) => [schema.name, schema.definition]));
  const unknown = schemasWithPointers(definition, spelling).filter(({ name }) => !attributes.has(name));
  const compared = { left: COMPARISONS };
  const noSuchSchemas = unknown.slice(0, MAX_PROBLEMS).map(({ name, pointer }) => {
    const names = comparable(known, compared);
    const message = noSuch('The world', 'entity schema', name, names);
    return fieldProblem(pointer, 'unknown_entity_schema', message, writeInstead(closest(name, names)));
  });
  return {
    kinds: [
      ...versionProblems(definition, now, saved),
      { code: 'unknown_entity_schema', problems: noSuchSchemas },
      { code: 'invalid_template', problems: unfitLiterals(definition, attributes) },
    ],
    warnings: versionWarnings(definition, named, events),
  };
}

type Attributes = ReadonlyMap<string, AttributeDefinition[]>;

/** Values of a template that runs which their attributes refuse in every execution. */
function unfitLiterals({ mutationSettings }: StoredVersion, attributes: Attributes): FieldProblem[] {
  if (mutationSettings?.mode !== 'direct' || mutationSettings.template === undefined) return [];
  return below(TEMPLATE, findUnfitLiterals(mutationSettings.template, attributes));
}
