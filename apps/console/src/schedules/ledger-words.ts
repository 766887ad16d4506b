import type { Occurrence } from '../api/records.js';
import type { Tone } from '../ui/values.js';

/** Why an occurrence was not executed, or nothing was due (docs/schedules.md). */
const REASONS: Readonly<Record<string, string>> = {
  overlap: 'the occurrence before it was still going',
  binding_changed: 'another version was bound',
  unbound: 'the event was unbound',
  definition_changed: 'the version was changed',
  deployment_paused: 'the deployment was paused',
  schedule_paused: 'the schedule was paused',
  deployment_deleted: 'the deployment was deleted',
  downtime: 'no scheduler ran when it was due',
};

/** The reason of a row in words; a reason that is new stands for itself. */
export const reasonWords = (reason: string): string => REASONS[reason] ?? reason;

export const STATUSES: readonly Occurrence['status'][] = ['fired', 'running', 'skipped', 'missed', 'paused'];

export function outcomeWords({ status, outcome, kind }: Occurrence): string {
  if (status === 'fired') return outcome === 'failed' ? 'failed' : 'succeeded';
  return kind === 'pause' ? 'pause' : status;
}

export function outcomeTone({ status, outcome }: Occurrence): Tone {
  if (status === 'fired') return outcome === 'failed' ? 'bad' : 'ok';
  if (status === 'running') return 'accent';
  return status === 'paused' ? 'plain' : 'warn';
}

/** What a row stands for, where it is not one due time. */
export function kindWords({ kind, count }: Occurrence): string | undefined {
  if (kind === 'manual') return 'run on request';
  if (kind === 'span') return `${count.toLocaleString('en')} due times`;
  return undefined;
}
