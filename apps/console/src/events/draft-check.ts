import type { FieldProblem } from '@orrery/sdk';
import { useRead } from '../api/read.js';
import type { EntitySchema } from '../api/records.js';
import { useSchemas } from '../api/worlds.js';
import { type Problem, WrongParts } from '../ui/messages.js';
import { useSettled } from '../ui/settled.js';
import { type VersionDraft, versionBodyOf } from './version-draft.js';
import { memberOfVersion } from './version-words.js';

/** What saving a draft would say. */
export interface DraftCheck {
  /** What it would refuse, by pointers into the version's body; null for nothing, or as long as nobody knows. */
  readonly refusal: WrongParts | null;
  readonly warnings: readonly FieldProblem[];
}

const UNKNOWN: DraftCheck = { refusal: null, warnings: [] };

/** Where the version is in the request for the check. */
const AT = '/events/0/firstVersion';

/** Checks a version while it is typed, as saving would, with the schemas of the world. Nothing is stored. */
export function useDraftCheck(world: string, draft: VersionDraft): DraftCheck {
  const schemas = useSchemas(world).data?.data;
  const body = bodyOf(draft);
  const text = useSettled(body);
  const isSettled = text !== '' && text === body;
  const { data } = useRead(
    ['check of a version', world, text, schemas?.map(({ updatedAt }) => updatedAt)],
    (orrery, signal) =>
      orrery.post('/api/worlds/check', {
        body: {
          entitySchemas: (schemas ?? []).map(schemaOf),
          events: [{ name: 'event', firstVersion: JSON.parse(text) }],
        } as never,
        signal,
      }),
    { enabled: isSettled && schemas !== undefined, staleTime: Number.POSITIVE_INFINITY },
  );
  if (!isSettled || data === undefined) return UNKNOWN;
  const problems = within(data.problems).filter(({ pointer }) => isTyped(draft, pointer));
  return {
    refusal: problems.length === 0 ? null : new WrongParts('It would not be saved.', problems),
    warnings: within(data.warnings),
  };
}

/** The body as text; empty where it cannot be read yet: the editors say so themselves. */
function bodyOf(draft: VersionDraft): string {
  try {
    return JSON.stringify(versionBodyOf(draft));
  } catch {
    return '';
  }
}

const schemaOf = ({ name, description, attributes }: EntitySchema) => ({
  name,
  description,
  attributes: attributes.map(({ name: attribute, type, constraints, defaultValue }) => ({
    name: attribute,
    type,
    constraints,
    defaultValue,
  })),
});

/** Those about the version, by pointers into it. */
const within = <P extends Problem>(problems: readonly P[]): P[] =>
  problems
    .filter(({ pointer }) => pointer.startsWith(`${AT}/`))
    .map((problem) => ({ ...problem, pointer: problem.pointer.slice(AT.length) }));

/** Of what is still empty nobody needs to hear. */
function isTyped(draft: VersionDraft, pointer: string): boolean {
  const member = memberOfVersion(pointer);
  return member === undefined || draft[member] !== '';
}
