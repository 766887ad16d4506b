import type { HistoryEntry } from '@orrery/sdk';
import { deploymentPath, HISTORY, useDeploymentRef } from '../api/deployments.js';
import { REFRESHED, usePage } from '../api/read.js';
import { EntryLink } from '../deployments/entry-link.js';
import { Badge, Time } from '../ui/values.js';
import { type JournalEntry, titleOf } from './entry-words.js';

type Set = NonNullable<HistoryEntry['timers']>[number];

/** What set an entry, and what it has set: the executions that followed as a tree, as far as they are among the latest. */
export function Consequences({ entry }: { entry: JournalEntry }) {
  const path = deploymentPath(useDeploymentRef());
  const timers = ('timers' in entry && entry.timers) || [];
  const query = usePage(
    HISTORY,
    path,
    { page: 1, trigger: 'timer' },
    { ...REFRESHED, enabled: timers.length > 0 },
  );
  const followed = query.data?.data ?? [];
  const cause = 'cause' in entry ? entry.cause : undefined;
  if (cause === undefined && timers.length === 0) return null;
  return (
    <div className="text-sm">
      {cause !== undefined && (
        <p>
          Set by entry <EntryLink seq={cause.seq} />
          {'depth' in entry && entry.depth !== undefined && entry.depth > 1 && `, ${entry.depth} timers deep`}
        </p>
      )}
      {timers.length > 0 && (
        <Tree label="Consequences" seq={entry.seq} timers={timers} followed={followed} left={8} />
      )}
    </div>
  );
}

interface TreeProps {
  label: string;
  seq: number;
  timers: readonly Set[];
  followed: readonly HistoryEntry[];
  /** Levels that are still shown. */
  left: number;
}

function Tree({ label, seq, timers, followed, left }: TreeProps) {
  return (
    <ul aria-label={label} className="ml-2 space-y-1 border-l border-line pl-3">
      {timers.map((timer, index) => (
        <li key={`${timer.id ?? timer.key}`}>
          <Branch
            timer={timer}
            followed={followed}
            entry={followed.find(({ cause }) => cause?.seq === seq && cause.index === index)}
            left={left}
          />
        </li>
      ))}
    </ul>
  );
}

function Branch({
  timer: { event, dueAt, key },
  entry,
  followed,
  left,
}: Pick<TreeProps, 'followed' | 'left'> & { timer: Set; entry: HistoryEntry | undefined }) {
  if (event === null) return <>cancels “{key}”</>;
  if (entry === undefined)
    return (
      <>
        {event}, due <Time at={dueAt ?? ''} />
        {key !== null && ` (${key})`}
      </>
    );
  const { seq, status, timers = [] } = entry;
  return (
    <>
      <EntryLink seq={seq} /> {titleOf(entry)}{' '}
      <Badge tone={status === 'failed' ? 'bad' : 'ok'}>{status}</Badge>
      {timers.length > 0 && left > 0 && (
        <Tree
          label={`Consequences of entry ${seq}`}
          seq={seq}
          timers={timers}
          followed={followed}
          left={left - 1}
        />
      )}
    </>
  );
}
