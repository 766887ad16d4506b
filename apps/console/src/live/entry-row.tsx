import { classes } from '../ui/classes.js';
import { localTime } from '../ui/time.js';
import { effectOf, type JournalEntry, titleOf, toneOf } from './entry-words.js';
import type { PositionState } from './use-position.js';

const DOTS = { ok: 'bg-ok', failed: 'bg-bad', plain: 'bg-line-strong' };

export interface EntryRowProps {
  seq: number;
  /** Undefined while it is read. */
  entry: JournalEntry | undefined;
  isCurrent: boolean;
  onGo: PositionState['go'];
}

/** One entry in two lines: what it was and when, and what it did or why it failed. */
export function EntryRow({ seq, entry, isCurrent, onGo }: EntryRowProps) {
  const tone = entry === undefined ? 'plain' : toneOf(entry);
  return (
    <button
      type="button"
      aria-current={isCurrent || undefined}
      onClick={() => onGo(seq)}
      className={classes(
        'block size-full border-l-2 px-3 py-1 text-left focus-visible:-outline-offset-2',
        isCurrent ? 'border-accent bg-accent-soft' : 'border-transparent hover:bg-hover',
      )}
    >
      <span className="flex items-center gap-2">
        <span aria-hidden="true" className={`size-1.5 shrink-0 rounded-full ${DOTS[tone]}`} />
        <span className="truncate font-medium">{entry === undefined ? '…' : titleOf(entry)}</span>
        <span className="ml-auto shrink-0 text-xs text-muted">
          {entry !== undefined && localTime(new Date(entry.executedAt)).slice(11)} #{seq}
        </span>
      </span>
      <span
        className={classes('block truncate pl-3.5 text-sm', tone === 'failed' ? 'text-bad' : 'text-muted')}
      >
        {entry !== undefined && effectOf(entry)}
      </span>
    </button>
  );
}
