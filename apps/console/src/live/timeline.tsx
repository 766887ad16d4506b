import { useInfiniteQuery, useQueries } from '@tanstack/react-query';
import { type ReactNode, useEffect, useMemo, useState } from 'react';
import { useBindings, useDeploymentRef } from '../api/deployments.js';
import { useEvents } from '../api/worlds.js';
import { Button } from '../ui/button.js';
import { classes } from '../ui/classes.js';
import { named, Select } from '../ui/field.js';
import { ErrorNote, Progress } from '../ui/messages.js';
import { Section } from '../ui/page.js';
import { useSeenRows } from '../ui/table.js';
import { useTimeText } from '../ui/zone.js';
import { effectOf, type JournalEntry, titleOf, toneOf } from './entry-words.js';
import { useLive } from './live.js';
import { useLiveSearch } from './live-search.js';
import { blockOf, blocksOfRows, historyFilter, passes, rowOfSeq, seqOfRow } from './queries.js';
import { withRecent } from './tail.js';

export function Timeline() {
  const [search, change] = useLiveSearch();
  return (
    <Section
      title="Journal"
      className="mb-0"
      actions={
        <>
          <Select
            {...CHOICE}
            aria-label="Entries"
            value={search.entries ?? ''}
            onChange={(value) => void change({ entries: value || undefined })}
            options={[
              ['', 'all entries'],
              ['executions', 'executions'],
              ['failed', 'failed'],
            ]}
          />
          <EventChoice />
        </>
      }
    >
      {search.instance !== undefined && (
        <p className="mb-2 flex items-center gap-2 text-sm">
          <span className="min-w-0 truncate">
            What changed <span className="font-medium">{search.instance}</span>
          </span>
          <Button size="small" look="quiet" onClick={() => void change({ instance: undefined })}>
            Show all
          </Button>
        </p>
      )}
      {historyFilter(search) === undefined ? <WholeJournal /> : <Filtered />}
    </Section>
  );
}

const CHOICE = { className: 'control w-auto max-w-40 py-1 text-sm' };

/** The events that are bound first: others may have been bound, and then have executions too. */
function EventChoice() {
  const ref = useDeploymentRef();
  const [{ event }, change] = useLiveSearch();
  const { data: events } = useEvents(ref.world);
  const { data: bindings } = useBindings(ref);
  const known = [...(events?.data ?? []).map(({ name }) => name), ...(event === undefined ? [] : [event])];
  const bound = bindings?.map((binding) => binding.event);
  const others = [...new Set(known)].filter((name) => !bound?.includes(name));
  const any = ['', 'any event'] as const;
  return (
    <Select
      {...CHOICE}
      aria-label="Event"
      value={event ?? ''}
      onChange={(value) => void change({ event: value || undefined })}
      options={bound === undefined ? [any, ...named(others)] : [any]}
    >
      {bound !== undefined && (
        <>
          <Group label="bound" names={bound} />
          <Group label="not bound now" names={others} />
        </>
      )}
    </Select>
  );
}

const Group = ({ label, names }: { label: string; names: readonly string[] }) =>
  names.length > 0 && (
    <optgroup label={label}>
      {names.map((name) => (
        <option key={name}>{name}</option>
      ))}
    </optgroup>
  );

const ROW_HEIGHT = 46;

/** Every entry has its row, so that any of them is reached at once. */
function WholeJournal() {
  const { journal, tail, rested: seq } = useLive();
  const [region, setRegion] = useState<HTMLElement | null>(null);
  const seen = useSeenRows(region, tail.head, ROW_HEIGHT);
  const { virtualizer, indexes } = seen;
  const blocks = blocksOfRows(indexes[0] ?? 0, indexes.at(-1) ?? -1, tail.head);
  const queries = useQueries({
    queries: blocks.map((block) => journal.entries(block, tail)),
  });
  const failed = queries.find(({ error }) => error !== null);
  useEffect(() => {
    if (seq >= 1 && seq <= tail.head) virtualizer.scrollToIndex(rowOfSeq(seq, tail.head), { align: 'auto' });
  }, [virtualizer, seq, tail.head]);
  const entryOf = (wanted: number): JournalEntry | undefined =>
    tail.recent.find((entry) => entry.seq === wanted) ??
    queries[blocks.indexOf(blockOf(wanted))]?.data?.find((entry) => entry.seq === wanted);
  return (
    <>
      <ErrorNote
        error={failed?.error}
        title="Could not load the journal"
        onRetry={() => void failed?.refetch()}
      />
      <Rows onRegion={setRegion} seen={seen} label="Entries, newest first">
        {(index) => {
          const at = seqOfRow(index, tail.head);
          return <EntryRow seq={at} entry={entryOf(at)} />;
        }}
      </Rows>
    </>
  );
}

function Filtered() {
  const { journal, tail } = useLive();
  const [search] = useLiveSearch();
  const filter = historyFilter(search) ?? {};
  const query = useInfiniteQuery(journal.filtered(filter, tail.generation));
  const [region, setRegion] = useState<HTMLElement | null>(null);
  const entries = useMemo(
    () => withRecent(query.data?.pages.flat() ?? [], tail.recent, (entry) => passes(search, entry)),
    [query.data, tail.recent, search],
  );
  const seen = useSeenRows(region, entries.length, ROW_HEIGHT);
  const last = seen.indexes.at(-1) ?? 0;
  const { hasNextPage, isFetching, fetchNextPage } = query;
  useEffect(() => {
    if (hasNextPage && !isFetching && last >= entries.length - 10) void fetchNextPage();
  }, [hasNextPage, isFetching, fetchNextPage, last, entries.length]);
  if (query.data === undefined && query.error === null) return <Progress label="Loading the journal" />;
  return (
    <>
      <ErrorNote
        error={query.error}
        title="Could not load the journal"
        onRetry={() => void query.refetch()}
      />
      {entries.length === 0 ? (
        <p className="rounded-lg border border-line bg-surface px-3 py-4 text-muted">No entry fits.</p>
      ) : (
        <Rows onRegion={setRegion} seen={seen} label="Entries that fit, newest first">
          {(index) => {
            const entry = entries[index];
            return entry && <EntryRow seq={entry.seq} entry={entry} />;
          }}
        </Rows>
      )}
    </>
  );
}

interface RowsProps {
  onRegion: (region: HTMLElement | null) => void;
  seen: Omit<ReturnType<typeof useSeenRows>, 'virtualizer'>;
  label: string;
  children: (index: number) => ReactNode;
}

const Rows = ({ onRegion, seen, label, children }: RowsProps) => (
  <ol
    ref={onRegion}
    aria-label={label}
    className="max-h-92 overflow-y-auto rounded-lg border border-line bg-surface"
  >
    <li aria-hidden="true" style={{ height: seen.above }} />
    {seen.indexes.map((index) => (
      <li key={index} style={{ height: ROW_HEIGHT }} className="border-b border-line last:border-b-0">
        {children(index)}
      </li>
    ))}
    <li aria-hidden="true" style={{ height: seen.below }} />
  </ol>
);

const DOTS = { ok: 'bg-ok', failed: 'bg-bad', plain: 'bg-line-strong' };

interface EntryRowProps {
  seq: number;
  /** Undefined while it is read. */
  entry: JournalEntry | undefined;
}

function EntryRow({ seq, entry }: EntryRowProps) {
  const { rested, go } = useLive();
  const timeText = useTimeText();
  const isCurrent = seq === rested;
  const tone = entry === undefined ? 'plain' : toneOf(entry);
  return (
    <button
      type="button"
      aria-current={isCurrent || undefined}
      onClick={() => go(seq)}
      className={classes(
        'block size-full border-l-2 px-3 py-1 text-left focus-visible:-outline-offset-2',
        isCurrent ? 'border-accent bg-accent-soft' : 'border-transparent hover:bg-hover',
      )}
    >
      <span className="flex items-center gap-2">
        <span aria-hidden="true" className={`size-1.5 shrink-0 rounded-full ${DOTS[tone]}`} />
        <span className="truncate font-medium">{entry === undefined ? '…' : titleOf(entry)}</span>
        <span className="ml-auto shrink-0 text-xs text-muted">
          {entry !== undefined && timeText(new Date(entry.executedAt)).slice(11)} #{seq}
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
