/** What an occurrence's key at the runtime names. */
export interface OccurrenceKey {
  /** The address of the deployment. */
  readonly deployment: string;
  readonly event: string;
  /** `due`: a due time of the schedule. `run`: a run on request. */
  readonly kind: 'due' | 'run';
  /** The due time in milliseconds since the epoch, or the number of the run: later ones are larger. */
  readonly position: number;
  readonly attempt: number;
}

/** The key under which one attempt of an occurrence is executed once. */
export const occurrenceKey = ({ deployment, event, kind, position, attempt }: OccurrenceKey): string =>
  `${deployment}/${kind === 'run' ? `run ${position}` : new Date(position).toISOString()}/${attempt}/${event}`;

const FORM = /^([^/]+)\/(?:run (\d{1,15})|(\d{4}-[^/]{1,30}))\/(\d{1,9})\/(.+)$/s;

/** Undefined for what `occurrenceKey` has not made. */
export function readOccurrenceKey(key: string): OccurrenceKey | undefined {
  const [, deployment = '', run, due = '', attempt, event = ''] = FORM.exec(key) ?? [];
  const position = run === undefined ? Date.parse(due) : Number(run);
  if (Number.isNaN(position)) return undefined;
  return { deployment, event, kind: run === undefined ? 'due' : 'run', position, attempt: Number(attempt) };
}
