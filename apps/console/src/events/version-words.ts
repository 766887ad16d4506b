import type { EventVersion } from '../api/records.js';
import { type FieldLabels, isIn, labelAt, partWords, problemsBelow } from '../ui/messages.js';
import type { ChangeMode, VersionDraft } from './version-draft.js';

type Guards = NonNullable<EventVersion['guards']>;

export const MODE_WORDS: Readonly<Record<ChangeMode, string>> = {
  partial: 'attribute by attribute',
  full: 'the change is the new state',
  append: 'lists grow, objects merge',
};

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

export const isByModel = ({
  mutationSettings,
  behaviorPrompt,
}: Pick<EventVersion, 'mutationSettings' | 'behaviorPrompt'>): boolean =>
  (mutationSettings?.mode ?? (behaviorPrompt ? 'ai' : 'direct')) === 'ai';

/** Which executions a version remembers, in words. */
export function memoryWords({ last, events, instances }: NonNullable<EventVersion['readHistory']>): string {
  const of = events === undefined ? 'executions' : `executions of ${events.join(', ')}`;
  return `The last ${last} ${of}${instances === undefined ? '' : ' that changed what it reads'}.`;
}

/** What the parts of a version are called in its form, by pointers into its body. */
export const VERSION_LABELS: FieldLabels = {
  '/inputSchema': 'Input',
  '/outputSchema': 'Result',
  '/readEntities': 'Reads',
  '/readHistory': 'Remembers',
  '/stateChanges': 'May change',
  '/mutationSettings': 'What decides',
  '/mutationSettings/template': 'Template',
  '/mutationSettings/behaviorPrompt': 'Behaviour prompt',
  '/behaviorPrompt': 'Behaviour prompt',
  '/guards': 'Guards',
  '/followUps': 'What follows',
  '/guards/maxInstances': 'Instances changed at most',
  '/guards/maxDelta': 'How far numbers may move',
  '/guards/deny': 'Attributes that stay',
  '/executionSettings': 'Who runs it',
  '/executionSettings/priceUsd': 'Price in US dollars',
  '/executionSettings/cron': 'Schedule',
  '/executionSettings/cron/schedule': 'Schedule',
  '/executionSettings/cron/timezone': 'Time zone',
  '/executionSettings/cron/input': 'Input of each run',
};

/** A part of a version, also in the request that makes an event with it: `Template, wins of horse:{{input.winner}}`. */
export function versionPart(pointer: string): string | undefined {
  const inBody = isIn(FIRST_VERSION, pointer) ? pointer.slice(FIRST_VERSION.length) : pointer;
  const label = labelAt(VERSION_LABELS, inBody);
  const part = Object.keys(VERSION_LABELS).findLast((one) => `${inBody}/`.startsWith(`${one}/`)) ?? inBody;
  const within = partWords(inBody.slice(part.length).replace(/^\/stateChanges(?=\/)/, ''));
  return label === undefined || within === undefined ? label : `${label}, ${within}`;
}

/** The parts that show what is wrong with them and with what is in them. */
const PARTS = [
  '/inputSchema',
  '/outputSchema',
  '/readEntities',
  '/readHistory',
  '/stateChanges',
  '/mutationSettings/template',
  '/mutationSettings/behaviorPrompt',
  '/behaviorPrompt',
  '/guards',
  '/followUps',
  '/executionSettings/priceUsd',
  '/executionSettings/cron',
];

/** What of the form each part is made of. */
const MEMBERS = {
  '/inputSchema': 'inputSchema',
  '/outputSchema': 'outputSchema',
  '/readEntities': 'reads',
  '/readHistory': 'memory',
  '/stateChanges': 'modes',
  '/mutationSettings/template': 'template',
  '/mutationSettings/behaviorPrompt': 'prompt',
  '/behaviorPrompt': 'prompt',
  '/guards/maxInstances': 'maxInstances',
  '/guards/maxDelta': 'maxDelta',
  '/guards/deny': 'deny',
  '/followUps': 'followUps',
  '/executionSettings/priceUsd': 'priceUsd',
  '/executionSettings/cron/schedule': 'schedule',
  '/executionSettings/cron/timezone': 'timezone',
  '/executionSettings/cron/input': 'cronInput',
} as const satisfies Readonly<Record<string, keyof VersionDraft>>;

/** The member of the form that a pointer into the body is about; undefined where no single one is. */
export const memberOfVersion = (pointer: string): keyof VersionDraft | undefined =>
  Object.entries(MEMBERS).find(([part]) => isIn(part, pointer))?.[1];

/** Beside the version in the request that creates an event. */
const EVENT_LABELS = { '/name': 'Name', '/description': 'Description' };

/** Where the version is in the request that makes an event with it. */
export const FIRST_VERSION = '/firstVersion';

/** What is wrong with the parts of a version, by pointers into its body; `at`: where it is in the request that failed. */
export const versionProblems = (error: unknown, at: string) => ({
  nameOf: (pointer: string) =>
    pointer.startsWith(at)
      ? labelAt(VERSION_LABELS, pointer.slice(at.length))
      : labelAt(EVENT_LABELS, pointer),
  /** About a part as a whole, such as a text field. */
  at: (part: string) =>
    problemsBelow(error, at + part)
      .map(({ message }) => message)
      .join(' ') || undefined,
  /** About a part of JSON: pointers into that. */
  within: (part: string) => problemsBelow(error, at + part),
  isShown: (pointer: string) => pointer in EVENT_LABELS || PARTS.some((part) => isIn(at + part, pointer)),
});
export type VersionProblems = ReturnType<typeof versionProblems>;
