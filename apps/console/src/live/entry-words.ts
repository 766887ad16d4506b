import type { EntityInstance, HistoryEntry, LiveEntry } from '@orrery/sdk';
import { partWords, withoutPointer } from '../ui/messages.js';

export type JournalEntry = HistoryEntry | LiveEntry;
export type Tone = 'ok' | 'failed' | 'plain';

const KINDS: Record<Exclude<JournalEntry['kind'], 'execution'>, string> = {
  deployment_created: 'Deployment created',
  settings_updated: 'Settings changed',
  bindings_added: 'Events bound',
  bindings_updated: 'Bindings changed',
  binding_removed: 'Event unbound',
  instance_created: 'Instance created',
  instance_updated: 'Instance changed',
  instance_deleted: 'Instance deleted',
  locked: 'Locked',
  paused: 'Paused',
  resumed: 'Resumed',
  published: 'Published',
  unpublished: 'Unpublished',
  timer_set: 'Execution set for later',
  timer_cancelled: 'Timer cancelled',
  randomness_committed: 'Committed to a secret for random numbers',
  randomness_revealed: 'Secrets of random numbers revealed',
  deleted: 'Deployment deleted',
  tail_lost: 'Entries lost by the database',
};

export const titleOf = ({ kind, event, eventVersion }: JournalEntry): string =>
  kind === 'execution' ? `${event} v${eventVersion}` : KINDS[kind];

export const toneOf = ({ status, kind }: JournalEntry): Tone => {
  if (status === 'failed' || kind === 'tail_lost') return 'failed';
  return status === 'succeeded' ? 'ok' : 'plain';
};

/** The entry of another deployment with whose state this one begins; undefined: it begins empty, or before this entry. */
export function beginOf({ kind, input }: JournalEntry): number | undefined {
  if (kind !== 'deployment_created') return undefined;
  const { source } = (input ?? {}) as { source?: { seq?: unknown } | null };
  return typeof source?.seq === 'number' ? source.seq : undefined;
}

/** Why an execution failed; where that is about one attribute, it is named. */
export function reasonOf({ detail, facts }: NonNullable<JournalEntry['error']>): string {
  const problems: unknown = facts?.['problems'];
  const pointers = (Array.isArray(problems) ? problems : []).map(({ pointer }) => String(pointer));
  const { pointer, text } = withoutPointer(detail, pointers);
  const part = pointer === undefined ? undefined : partWords(pointer);
  return part === undefined ? detail : `${part}: ${text}`;
}

/** What it did: why it failed, which instances it changed and to what, or which events it bound. */
export function effectOf(entry: JournalEntry): string {
  const { error, changes } = entry;
  if (error !== null) return `${error.code}: ${reasonOf(error)}`;
  const [first, ...others] = changes;
  const begin = beginOf(entry);
  if (begin !== undefined) return `instances of another, after its entry ${begin}`;
  if (first === undefined) return entry.kind === 'execution' ? 'no changes' : aboutOf(entry);
  return others.length === 0 ? effectOn(first) : `${effectOn(first)} and ${others.length} more`;
}

/** The settings that it changed, or the events that it bound, each with its version, or unbound; of others empty. */
function aboutOf({ kind, input }: JournalEntry): string {
  const { bindings, events } = (input ?? {}) as { bindings?: unknown; events?: unknown };
  if (kind === 'settings_updated') return Object.keys(input ?? {}).join(', ');
  if (kind === 'binding_removed') return Array.isArray(events) ? events.join(', ') : '';
  if (!Array.isArray(bindings)) return '';
  return bindings.map(({ event, eventVersion }) => `${event} v${eventVersion}`).join(', ');
}

function effectOn({ op, entitySchema, instanceId, set, unset }: JournalEntry['changes'][number]): string {
  const name = `${entitySchema}:${instanceId}`;
  if (op !== 'update') return `${op} ${name}`;
  const values = Object.entries(set).map(([attribute, value]) => `${attribute} ${shownValue(value)}`);
  return [name, ...values, ...unset.map((attribute) => `without ${attribute}`)].join(' · ');
}

/** Who did it, without the length of addresses. */
export function callerOf({ caller }: JournalEntry): string {
  const [kind = '', name = ''] = caller.split(/:(.*)/s);
  return name.length > 14 ? `${kind} ${name.slice(0, 6)}…${name.slice(-4)}` : `${kind} ${name}`;
}

/** A value in one line; nothing for what an instance does not have. */
export function shownValue(value: EntityInstance['state'][string] | undefined): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
