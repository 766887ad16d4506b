import {
  delayProblem,
  type FieldProblem,
  type FollowUp,
  fieldProblem,
  type JsonValue,
  MAX_PROBLEMS,
  timeProblem,
  toNfc,
} from '@orrery/contracts';
import {
  type CompiledContract,
  compileTemplate,
  FOLLOW_UP_NAMES,
  findUndeclaredInputs,
  findUnreadEntities,
  findUnreadHistory,
  isPlaceholder,
  templateReferences,
} from '@orrery/expressions';
import type { StoredVersion } from '../definitions/stored-version.js';
import { below } from '../problems.js';

type Member = keyof FollowUp;

/** What makes a follow-up one of the two kinds, in words. Pointers are into the version. */
export const wrongFollowUps = ({ followUps = [] }: StoredVersion): FieldProblem[] =>
  followUps.flatMap((followUp, index) => below(`/followUps/${index}`, wrongMembers(followUp)));

function wrongMembers(followUp: FollowUp): FieldProblem[] {
  const { event, cancel, after, at, when } = followUp;
  const problem = (member: Member, message: string) => [
    fieldProblem(`/${member}`, 'invalid_follow_up', message),
  ];
  if (event === undefined && cancel === undefined)
    return [fieldProblem('', 'invalid_follow_up', 'Name an "event" to execute, or the key to "cancel".')];
  if (cancel !== undefined) {
    const besides = (['event', 'input', 'after', 'at', 'key'] as const).filter(
      (member) => member in followUp,
    );
    return besides.flatMap((member) =>
      problem(member, `A follow-up with "cancel" cancels, and has no "${member}".`),
    );
  }
  return [
    ...(event?.includes('{{')
      ? problem('event', 'Write the name of the event as it is: it is no template.')
      : []),
    ...(after !== undefined && at !== undefined ? problem('at', 'Give either "after" or "at".') : []),
    ...literalProblem('after', after, delayProblem),
    ...literalProblem('at', at, timeProblem),
    ...(when !== undefined && !isPlaceholder(when)
      ? problem('when', 'A condition is one placeholder, such as "{{ result.isOver }}".')
      : []),
  ];
}

/** What is written out is known before an execution. */
function literalProblem(
  member: Member,
  text: string | undefined,
  check: (text: string) => string | undefined,
): FieldProblem[] {
  const message = text === undefined || text.includes('{{') ? undefined : check(text);
  return message === undefined ? [] : [fieldProblem(`/${member}`, 'invalid_follow_up', message)];
}

/** What the templates of follow-ups get wrong in every execution. Pointers are into the version. */
export function followUpMistakes(
  { followUps = [], readEntities, readHistory }: StoredVersion,
  contract?: CompiledContract,
): FieldProblem[] {
  const template = followUps as unknown as JsonValue;
  const compiled = compileTemplate(template, { names: FOLLOW_UP_NAMES, random: true });
  if (!compiled.ok) return below('/followUps', compiled.problems);
  const references = templateReferences(template);
  const read = readEntities.map(({ schema }) => toNfc(schema));
  const problems = [
    ...findUnreadEntities(references, read),
    ...(readHistory === undefined ? findUnreadHistory(references) : []),
    ...(contract === undefined ? [] : findUndeclaredInputs(references, contract)),
  ];
  return below('/followUps', problems.slice(0, MAX_PROBLEMS));
}
