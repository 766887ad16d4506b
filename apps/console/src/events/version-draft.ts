import type { components } from '@orrery/sdk';
import type { EventVersion } from '../api/records.js';
import { isObject } from '../forms/json.js';
import { type Problem, Unreadable } from '../ui/messages.js';
import { listOf, listText, numberIn, whyNoNumber } from '../ui/typed-text.js';

type VersionBody = components['schemas']['EventVersionBody'];
export type ChangeMode = components['schemas']['ChangeMode'];

/** How one schema's instances are read; the filter's paths are separated by commas. What is empty is left out. */
export const NEW_READ = { schema: '', filter: '', where: '', orderBy: '', limit: '' };
export type ReadDraft = Readonly<typeof NEW_READ>;

/** `either`: as it is without a rule. */
export type Answer = 'either' | 'yes' | 'no';

/** A version as it is typed, as it begins. Texts of JSON may be empty, for none, or unfinished. */
export const NEW_VERSION = {
  inputSchema: '',
  outputSchema: '',
  reads: [] as readonly ReadDraft[],
  /** JSON: which executions it remembers. */
  memory: '',
  /** JSON: the list of what it sets. */
  followUps: '',
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
  payerMayCall: false,
  /** Random numbers come from the public beacon. */
  isFromBeacon: false,
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
  const settings = executionSettings ?? { visibility: 'admin' };
  const { cron, visibility, priceUsd, payerMayCall = false, randomness } = settings;
  return {
    inputSchema: textOf(version.inputSchema),
    outputSchema: textOf(version.outputSchema),
    reads: version.readEntities.map(({ schema, filter, where = '', orderBy = '', limit }) => ({
      schema,
      filter: listText(filter ?? []),
      where,
      orderBy,
      limit: textOf(limit),
    })),
    memory: textOf(version.readHistory),
    followUps: textOf(version.followUps),
    modes: version.stateChanges,
    decides: mutationSettings?.mode ?? (behaviorPrompt ? 'ai' : 'direct'),
    template: textOf(mutationSettings?.template),
    prompt: mutationSettings?.behaviorPrompt ?? behaviorPrompt ?? '',
    maxInstances: textOf(guards?.maxInstances),
    maxDelta: textOf(guards?.maxDelta),
    deny: listText(guards?.deny ?? []),
    create: answerOf(guards?.create),
    delete: answerOf(guards?.delete),
    visibility,
    priceUsd: textOf(priceUsd),
    payerMayCall,
    isFromBeacon: randomness === 'drand',
    schedule: cron?.schedule ?? NEW_VERSION.schedule,
    timezone: cron?.timezone ?? '',
    cronInput: textOf(cron?.input),
    unset: (['mutationSettings', 'executionSettings'] as const).filter((part) => version[part] === null),
  };
}

/**
 * The body of its creation or of its whole replacement: what is empty is null, which removes it. `at`: where it is in the
 * request.
 *
 * @throws Unreadable
 */
export function versionBodyOf(draft: VersionDraft, at = ''): VersionBody {
  const problems: Problem[] = [];
  const read = readerOf(at, problems);
  const body: VersionBody = {
    inputSchema: read.json(draft.inputSchema, '/inputSchema'),
    outputSchema: read.json(draft.outputSchema, '/outputSchema'),
    readEntities: draft.reads.length === 0 ? null : draft.reads.map((one, index) => readOf(one, index, read)),
    // The service refuses what is no such object.
    readHistory: read.json(draft.memory, '/readHistory') as VersionBody['readHistory'] & null,
    stateChanges: draft.modes === null ? null : { ...draft.modes },
    ...decisionOf(draft, read),
    executionSettings: executionOf(draft, read),
    guards: guardsOf(draft, read),
    followUps: read.list(draft.followUps, '/followUps') as VersionBody['followUps'] & null,
  };
  if (problems.length > 0) throw new Unreadable(problems);
  return body;
}

const isList = (value: unknown): value is unknown[] => Array.isArray(value);

function readJson<T>(
  text: string,
  fits: (value: unknown) => value is T,
  message: string,
  pointer: string,
  problems: Problem[],
): T | null {
  if (text.trim() === '') return null;
  try {
    const value: unknown = JSON.parse(text);
    if (fits(value)) return value;
    problems.push({ pointer, message });
  } catch (error) {
    problems.push({ pointer, message: `It is no JSON: ${(error as Error).message}` });
  }
  return null;
}

/** Reads what was typed; what stands for no value is noted with its pointer. */
const readerOf = (at: string, problems: Problem[]) => ({
  /** An object; null for nothing. */
  json: (text: string, pointer: string) =>
    readJson(text, isObject, 'It must be an object: { … }.', at + pointer, problems),
  /** A list; null for nothing. */
  list: (text: string, pointer: string) =>
    readJson(text, isList, 'It must be a list: [ … ].', at + pointer, problems),
  /** JSON would make null of what is no number. */
  number: (text: string, pointer: string): number | undefined => {
    const message = whyNoNumber(text);
    if (message !== undefined) problems.push({ pointer: at + pointer, message });
    return numberIn(text);
  },
});
type Reader = ReturnType<typeof readerOf>;

function decisionOf({ decides, template, prompt, unset }: VersionDraft, read: Reader): VersionBody {
  const behaviorPrompt = prompt.trim() === '' ? null : prompt;
  // A prompt alone is decided by a model.
  if (decides === 'ai' && unset.includes('mutationSettings'))
    return { mutationSettings: null, behaviorPrompt };
  const given = decides === 'direct' ? read.json(template, '/mutationSettings/template') : null;
  return { mutationSettings: { mode: decides, template: given, behaviorPrompt } };
}

function executionOf(
  draft: VersionDraft,
  read: Reader,
): NonNullable<VersionBody['executionSettings']> | null {
  const { visibility, unset } = draft;
  const priceUsd = read.number(draft.priceUsd, '/executionSettings/priceUsd') ?? null;
  const { isFromBeacon } = draft;
  if (visibility === 'admin' && priceUsd === null && !isFromBeacon && unset.includes('executionSettings'))
    return null;
  const cron = visibility === 'cron' ? cronOf(draft, read) : null;
  const payerMayCall = visibility === 'public' && draft.payerMayCall;
  return {
    ...{ visibility, priceUsd, cron },
    ...(payerMayCall && { payerMayCall }),
    ...(isFromBeacon && { randomness: 'drand' as const }),
  };
}

function cronOf({ schedule, timezone, cronInput }: VersionDraft, read: Reader) {
  const input = read.json(cronInput, '/executionSettings/cron/input');
  return {
    schedule: schedule.trim(),
    ...(timezone.trim() !== '' && { timezone: timezone.trim() }),
    ...(input !== null && { input }),
  };
}

function readOf({ schema, filter, where, orderBy, limit }: ReadDraft, index: number, read: Reader) {
  const paths = listOf(filter);
  const most = read.number(limit, `/readEntities/${index}/limit`);
  return {
    schema,
    ...(paths.length > 0 && { filter: paths }),
    ...(where.trim() !== '' && { where }),
    ...(orderBy.trim() !== '' && { orderBy }),
    ...(most !== undefined && { limit: most }),
  };
}

function guardsOf(draft: VersionDraft, read: Reader): NonNullable<VersionBody['guards']> | null {
  const maxInstances = read.number(draft.maxInstances, '/guards/maxInstances');
  const maxDelta = read.json(draft.maxDelta, '/guards/maxDelta');
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
