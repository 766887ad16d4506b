import type { components, FieldProblem } from '@orrery/sdk';
import type { EventVersion } from '../api/records.js';
import { listOf, numberIn, whyNoNumber } from '../ui/typed-text.js';

export type VersionBody = components['schemas']['EventVersionBody'];
export type ChangeMode = components['schemas']['ChangeMode'];
type JsonObject = components['schemas']['JsonObject'];

/** How one schema's instances are read: its filter, separated by commas; empty for all. */
export interface ReadDraft {
  readonly schema: string;
  readonly filter: string;
}

/** `either`: as it is without a rule. */
export type Answer = 'either' | 'yes' | 'no';

/** A version as it is typed, as it begins. Texts of JSON may be empty, for none, or unfinished. */
export const NEW_VERSION = {
  inputSchema: '',
  outputSchema: '',
  reads: [] as readonly ReadDraft[],
  /** Null: every schema may be changed, each `partial`. */
  modes: null as Readonly<Record<string, ChangeMode>> | null,
  decides: 'direct' as 'direct' | 'ai',
  template: '{\n  "stateChanges": {},\n  "result": {}\n}',
  prompt: '',
  maxInstances: '',
  /** JSON: attribute → how far. */
  maxDelta: '',
  deny: '',
  create: 'either' as Answer,
  delete: 'either' as Answer,
  visibility: 'admin' as 'admin' | 'public' | 'cron',
  priceUsd: '',
  schedule: '0 9 * * *',
  timezone: '',
  cronInput: '',
  /** Settings that the version does not have: a copy that says nothing else has none either. */
  unset: [] as readonly ('mutationSettings' | 'executionSettings')[],
};
export type VersionDraft = Readonly<typeof NEW_VERSION>;

const textOf = (value: unknown): string =>
  value === null || value === undefined ? '' : JSON.stringify(value, null, 2);

const answerOf = (value: boolean | undefined): Answer => {
  if (value === undefined) return 'either';
  return value ? 'yes' : 'no';
};

export function versionDraftOf(version: EventVersion): VersionDraft {
  const { mutationSettings, executionSettings, guards, behaviorPrompt } = version;
  const { cron, visibility = 'admin', priceUsd } = executionSettings ?? {};
  return {
    inputSchema: textOf(version.inputSchema),
    outputSchema: textOf(version.outputSchema),
    reads: version.readEntities.map(({ schema, filter }) => ({ schema, filter: filter?.join(', ') ?? '' })),
    modes: version.stateChanges,
    decides: mutationSettings?.mode ?? (behaviorPrompt ? 'ai' : 'direct'),
    template: textOf(mutationSettings?.template),
    prompt: mutationSettings?.behaviorPrompt ?? behaviorPrompt ?? '',
    maxInstances: textOf(guards?.maxInstances),
    maxDelta: textOf(guards?.maxDelta),
    deny: guards?.deny?.join(', ') ?? '',
    create: answerOf(guards?.create),
    delete: answerOf(guards?.delete),
    visibility,
    priceUsd: textOf(priceUsd),
    schedule: cron?.schedule ?? NEW_VERSION.schedule,
    timezone: cron?.timezone ?? '',
    cronInput: textOf(cron?.input),
    unset: (['mutationSettings', 'executionSettings'] as const).filter((part) => version[part] === null),
  };
}

export const isSameDraft = (one: VersionDraft, other: VersionDraft): boolean =>
  one === other || JSON.stringify(one) === JSON.stringify(other);

export type Problem = Pick<FieldProblem, 'pointer' | 'message'>;

/** Thrown before anything is sent: texts that are no JSON or no number, by their pointers into the body. */
export class DraftError extends Error {
  readonly pointers: readonly Problem[];

  constructor(pointers: readonly Problem[]) {
    super('Some of it cannot be read yet.');
    this.pointers = pointers;
  }
}

/**
 * The body of its creation or of its whole replacement: what is empty is null, which removes it.
 *
 * @throws DraftError
 */
export function versionBodyOf(draft: VersionDraft): VersionBody {
  const problems: Problem[] = [];
  const json = (text: string, pointer: string) => parsed(text, pointer, problems);
  const number = (text: string, pointer: string) => parsedNumber(text, pointer, problems);
  const body: VersionBody = {
    inputSchema: json(draft.inputSchema, '/inputSchema'),
    outputSchema: json(draft.outputSchema, '/outputSchema'),
    readEntities: draft.reads.length === 0 ? null : draft.reads.map(readOf),
    stateChanges: draft.modes === null ? null : { ...draft.modes },
    ...decisionOf(draft, json),
    executionSettings: executionOf(draft, json, number(draft.priceUsd, '/executionSettings/priceUsd')),
    guards: guardsOf(
      draft,
      json(draft.maxDelta, '/guards/maxDelta'),
      number(draft.maxInstances, '/guards/maxInstances'),
    ),
  };
  if (problems.length > 0) throw new DraftError(problems);
  return body;
}

type ReadJson = (text: string, pointer: string) => JsonObject | null;

function decisionOf({ decides, template, prompt, unset }: VersionDraft, json: ReadJson): VersionBody {
  const behaviorPrompt = prompt.trim() === '' ? null : prompt;
  // A prompt alone is decided by a model.
  if (decides === 'ai' && unset.includes('mutationSettings'))
    return { mutationSettings: null, behaviorPrompt };
  const read = decides === 'direct' ? json(template, '/mutationSettings/template') : null;
  return { mutationSettings: { mode: decides, template: read, behaviorPrompt } };
}

function executionOf(
  draft: VersionDraft,
  json: ReadJson,
  priceUsd: number | undefined,
): NonNullable<VersionBody['executionSettings']> | null {
  const { visibility, cronInput, unset } = draft;
  const isDefault = visibility === 'admin' && priceUsd === undefined;
  if (isDefault && unset.includes('executionSettings')) return null;
  const cron = visibility === 'cron' ? cronOf(draft, json(cronInput, '/executionSettings/cron/input')) : null;
  return { visibility, priceUsd: priceUsd ?? null, cron };
}

/** An object that was typed, null for nothing; a text that is none is noted with its pointer. */
function parsed(text: string, pointer: string, problems: Problem[]): JsonObject | null {
  if (text.trim() === '') return null;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
    problems.push({ pointer, message: 'It must be an object: { … }.' });
  } catch (error) {
    problems.push({ pointer, message: `It is no JSON: ${(error as Error).message}` });
  }
  return null;
}

/** A number that was typed; a text that is none is noted with its pointer, since JSON would make it null. */
function parsedNumber(text: string, pointer: string, problems: Problem[]): number | undefined {
  const message = whyNoNumber(text);
  if (message !== undefined) problems.push({ pointer, message });
  return numberIn(text);
}

function readOf({ schema, filter }: ReadDraft) {
  const paths = listOf(filter);
  return { schema, ...(paths.length > 0 && { filter: paths }) };
}

const cronOf = ({ schedule, timezone }: VersionDraft, input: JsonObject | null) => ({
  schedule: schedule.trim(),
  ...(timezone.trim() !== '' && { timezone: timezone.trim() }),
  ...(input !== null && { input }),
});

function guardsOf(
  draft: VersionDraft,
  maxDelta: JsonObject | null,
  maxInstances: number | undefined,
): NonNullable<VersionBody['guards']> | null {
  const deny = listOf(draft.deny);
  const guards = {
    ...(maxInstances !== undefined && { maxInstances }),
    ...(maxDelta !== null && { maxDelta: maxDelta as Record<string, number> }),
    ...(deny.length > 0 && { deny }),
    ...(draft.create !== 'either' && { create: draft.create === 'yes' }),
    ...(draft.delete !== 'either' && { delete: draft.delete === 'yes' }),
  };
  return Object.keys(guards).length === 0 ? null : guards;
}
