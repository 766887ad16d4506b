import { problemsOf } from '../ui/messages.js';
import { labelAt } from '../ui/pointers.js';
import { DraftError, type Problem } from './version-draft.js';
import { VERSION_LABELS } from './version-words.js';

/** The parts that show what is wrong with them and with what is in them. */
const PARTS = [
  '/inputSchema',
  '/outputSchema',
  '/readEntities',
  '/stateChanges',
  '/mutationSettings/template',
  '/mutationSettings/behaviorPrompt',
  '/behaviorPrompt',
  '/guards',
  '/executionSettings/priceUsd',
  '/executionSettings/cron',
];

/** Beside the version in the request that creates an event. */
const EVENT_LABELS = { '/name': 'Name', '/description': 'Description' };

/**
 * What is wrong with the parts of a version, by pointers into its body. `prefix`: where the version is in the request that
 * failed, such as `/firstVersion`.
 */
export function versionProblems(error: unknown, prefix = '') {
  const given: readonly Problem[] = error instanceof DraftError ? error.pointers : problemsOf(error);
  const problems = given
    .filter(({ pointer }) => pointer.startsWith(prefix))
    .map(({ pointer, message }) => ({ pointer: pointer.slice(prefix.length), message }));
  const isIn = (part: string, pointer: string) => pointer === part || pointer.startsWith(`${part}/`);
  const inBody = (pointer: string) => pointer.slice(prefix.length);
  return {
    nameOf: (pointer: string) =>
      pointer.startsWith(prefix) ? labelAt(VERSION_LABELS, inBody(pointer)) : labelAt(EVENT_LABELS, pointer),
    /** About a part as a whole, such as a text field. */
    at: (part: string) =>
      problems
        .filter(({ pointer }) => isIn(part, pointer))
        .map(({ message }) => message)
        .join(' ') || undefined,
    /** About a part of JSON: pointers into that. */
    within: (part: string) =>
      problems
        .filter(({ pointer }) => isIn(part, pointer))
        .map(({ pointer, message }) => ({ pointer: pointer.slice(part.length), message })),
    isShown: (pointer: string) =>
      pointer in EVENT_LABELS ||
      (pointer.startsWith(prefix) && PARTS.some((part) => isIn(part, inBody(pointer)))),
  };
}
export type VersionProblems = ReturnType<typeof versionProblems>;
