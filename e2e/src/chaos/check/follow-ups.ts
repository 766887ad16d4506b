import type { Evidence, JournalRow } from './evidence.js';

interface Bound {
  readonly event: string;
  readonly eventVersion: number;
}

/**
 * Invariant 23, for follow-ups of versions that are bound anew meanwhile: each leader has set the follow-up of the version that
 * was bound when it was executed, that was executed once, by a timer, and what it executed is the version bound by then.
 */
export const wrongFollowUps = ({ entries }: Pick<Evidence, 'entries'>): string[] =>
  [...Map.groupBy(entries, ({ deployment }) => deployment)].flatMap(([deployment, own]) =>
    [...wrongVersions(own), ...wrongPairs(own)].map((what) => `${deployment}: ${what}`),
  );

const isDone = ({ kind, status }: JournalRow) => kind === 'execution' && status === 'succeeded';
const isLeader = (entry: JournalRow) => isDone(entry) && entry.event === 'lead';
const isFollower = ({ kind, event }: JournalRow) => kind === 'execution' && event === 'follow';

/** `entries` are those of one journal, in their order. */
function wrongVersions(entries: readonly JournalRow[]): string[] {
  const bound = new Map<string, number>();
  return entries.flatMap((entry) => {
    const { seq, event, eventVersion, input } = entry;
    if (entry.kind !== 'execution')
      for (const one of (input?.['bindings'] ?? []) as unknown as Bound[])
        bound.set(one.event, one.eventVersion);
    if (!isLeader(entry) && !(isFollower(entry) && isDone(entry))) return [];
    const expected = bound.get(event ?? '');
    return expected === eventVersion
      ? []
      : [`entry ${seq} executes version ${eventVersion} of ${event}, and ${expected} was bound`];
  });
}

function wrongPairs(entries: readonly JournalRow[]): string[] {
  const followers = Map.groupBy(entries.filter(isFollower), ({ input }) => input?.['leader']);
  const leaders = new Map(entries.filter(isLeader).map((one) => [one.input?.['operation'], one]));
  const strange = [...followers.keys()].filter((leader) => !leaders.has(leader));
  return [
    ...strange.map((leader) => `operation ${leader} has a follow-up, and has not succeeded`),
    ...[...leaders].flatMap(([operation, leader]) =>
      wrongPair(leader, followers.get(operation) ?? []).map((what) => `operation ${operation} ${what}`),
    ),
  ];
}

function wrongPair(leader: JournalRow, followers: readonly JournalRow[]): string[] {
  const [follower] = followers;
  if (follower === undefined || followers.length > 1) return [`has ${followers.length} follow-ups`];
  const { seq, trigger, status, eventVersion, input, result } = follower;
  return [
    ...(trigger === 'timer' && status === 'succeeded' ? [] : [`has entry ${seq}: ${trigger}, ${status}`]),
    ...(input?.['led'] === leader.eventVersion ? [] : [`has the follow-up of another version, entry ${seq}`]),
    ...(result?.['by'] === eventVersion ? [] : [`has entry ${seq}, which another version has decided`]),
  ];
}
