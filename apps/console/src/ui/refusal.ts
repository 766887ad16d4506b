import { useState } from 'react';
import { type FieldLabels, isIn, problemsOf, stepsOf, WrongParts } from './messages.js';

/** A refusal without the parts that were corrected since; null once none is left. What is about no part stays. */
export function leftOf(error: Error | null, isCorrected: (pointer: string) => boolean): Error | null {
  const all = problemsOf(error);
  const left = all.filter(({ pointer }) => !isCorrected(pointer));
  if (left.length === all.length) return error;
  const [first] = left;
  return first === undefined ? null : new WrongParts(`${first.pointer}: ${first.message}`, left);
}

/** The member of a form's draft that a pointer of the service is about; undefined: none. */
export type MemberAt<Draft> = (pointer: string) => keyof Draft | undefined;

/** By the labels of a form: the last step of the pointer that has one. */
export const memberByLabel =
  <Draft extends object>(labels: FieldLabels): MemberAt<Draft> =>
  (pointer) => {
    const labelled = Object.keys(labels).filter((part) => isIn(part, pointer));
    const nearest = labelled.toSorted((a, b) => b.length - a.length)[0];
    return nearest === undefined ? undefined : (stepsOf(nearest).at(-1) as keyof Draft | undefined);
  };

/**
 * What the service refused, as long as it is so: what was said of a field goes once that field is changed.
 * @param together members of which a change of one may mend another
 */
export function useRefusal<Draft extends object>(
  error: Error | null,
  draft: Draft,
  memberAt: MemberAt<Draft>,
  together: readonly (keyof Draft)[] = [],
): Error | null {
  const [refused, setRefused] = useState({ error, draft });
  if (refused.error !== error) setRefused({ error, draft });
  const isChanged = (name: keyof Draft) => refused.error === error && draft[name] !== refused.draft[name];
  return leftOf(error, (pointer) => {
    const member = memberAt(pointer);
    if (member === undefined) return false;
    return (together.includes(member) ? together : [member]).some(isChanged);
  });
}
