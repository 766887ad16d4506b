import type { EventVersion } from '../api/records.js';
import type { ChangeMode } from './version-draft.js';

type Guards = NonNullable<EventVersion['guards']>;

/** What a mode does with a change. */
export const MODE_WORDS: Readonly<Record<ChangeMode, string>> = {
  partial: 'attribute by attribute',
  full: 'the change is the new state',
  append: 'lists grow, objects merge',
};

/** Which instances of a schema are read. */
export const readWords = ({ filter }: EventVersion['readEntities'][number]): string =>
  filter === undefined ? 'all instances' : `those that the input names at ${filter.join(', ')}`;

/** The limits of a version's guards, a sentence each. */
export function guardWords(guards: Guards | null, isByModel: boolean): string[] {
  const { create, delete: mayDelete, maxInstances, maxDelta = {}, deny = [] } = guards ?? {};
  return [
    create === false && 'It changes existing instances only and creates none.',
    mayDelete === true && isByModel && 'The model may delete instances.',
    mayDelete === false && !isByModel && 'It deletes no instance.',
    maxInstances !== undefined && `It changes at most ${maxInstances} instances at once.`,
    ...Object.entries(maxDelta).map(([attribute, limit]) => `${attribute} moves by at most ${limit}.`),
    deny.length > 0 && `It leaves as they are: ${deny.join(', ')}.`,
  ].filter((words) => words !== false);
}

/** Whether an AI model decides. */
export const isByModel = ({
  mutationSettings,
  behaviorPrompt,
}: Pick<EventVersion, 'mutationSettings' | 'behaviorPrompt'>): boolean =>
  (mutationSettings?.mode ?? (behaviorPrompt ? 'ai' : 'direct')) === 'ai';
