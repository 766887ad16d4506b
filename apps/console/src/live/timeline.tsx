import { useInfiniteQuery, useQueries, useQuery } from '@tanstack/react-query';
import { useVirtualizer, type Virtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useMemo, useRef } from 'react';
import { bindingsQuery } from '../api/bindings.js';
import { eventsQuery } from '../api/events.js';
import { useOrrery } from '../session/use-session.js';
import { Button } from '../ui/button.js';
import { classes } from '../ui/classes.js';
import { ErrorNote } from '../ui/error-note.js';
import { Section } from '../ui/page.js';
import { Progress } from '../ui/progress.js';
import { blockOf, blocksOfRows, rowOfSeq, seqOfRow } from './entry-blocks.js';
import { EntryRow } from './entry-row.js';
import type { JournalEntry } from './entry-words.js';
import type { EntryFilter } from './live-search.js';
import { entriesQuery, filteredQuery, historyFilter, passes } from './queries.js';
import type { PartProps } from './tail.js';
import { withRecent } from './tail.js';
import { useLiveSearch } from './use-live-search.js';
import type { PositionState } from './use-position.js';

interface TimelineProps extends PartProps {
  onGo: PositionState['go'];
}

/** The journal, newest entry first: all of it, or the executions that are looked for. */
export function Timeline(props: TimelineProps) {
  const [search, change] = useLiveSearch();
  return (
    <Section
      title="Journal"
      className="mb-0"
      actions={
        <>
          <Choice
            label="Entries"
            value={search.entries ?? ''}
            onChange={(value) => void change({ entries: (value || undefined) as EntryFilter | undefined })}
          >
            <option value="">all entries</option>
            <option value="executions">executions</option>
            <option value="failed">failed</option>
          </Choice>
          <EventChoice
            deployment={props.deployment}
            event={search.event}
            onChange={(event) => void change({ event })}
          />
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
      {historyFilter(search) === undefined ? <WholeJournal {...props} /> : <Filtered {...props} />}
    </Section>
  );
}

interface EventChoiceProps {
  deployment: PartProps['deployment'];
  event: string | undefined;
  onChange: (event: string | undefined) => void;
}

/** The events that are bound first: others may have been bound, and then have executions too. */
function EventChoice({ deployment, event, onChange }: EventChoiceProps) {
  const orrery = useOrrery();
  const { data: events } = useQuery(eventsQuery(orrery, deployment.world));
  const { data: bindings } = useQuery(bindingsQuery(orrery, deployment));
  const known = [...(events?.data ?? []).map(({ name }) => name), ...(event === undefined ? [] : [event])];
  const bound = bindings?.map((binding) => binding.event);
  const others = [...new Set(known)].filter((name) => !bound?.includes(name));
  return (
    <Choice label="Event" value={event ?? ''} onChange={(value) => onChange(value || undefined)}>
      <option value="">any event</option>
      {bound === undefined ? (
        <Names names={others} />
      ) : (
        <>
          <Group label="bound" names={bound} />
          <Group label="not bound now" names={others} />
        </>
      )}
    </Choice>
  );
}

const Group = ({ label, names }: { label: string; names: readonly string[] }) =>
  names.length > 0 && (
    <optgroup label={label}>
      <Names names={names} />
    </optgroup>
  );

const Names = ({ names }: { names: readonly string[] }) =>
  names.map((name) => <option key={name}>{name}</option>);

interface ChoiceProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  children: ReactNode;
}

const Choice = ({ label, value, onChange, children }: ChoiceProps) => (
  <select
    aria-label={label}
    className="control w-auto max-w-40 py-1 text-sm"
    value={value}
    onChange={({ target }) => onChange(target.value)}
  >
    {children}
  </select>
);

const ROW_HEIGHT = 46;

/** Every entry has its row, so that any place is reached at once. */
function WholeJournal({ deployment, tail, seq, onGo }: TimelineProps) {
  const orrery = useOrrery();
  const region = useRef<HTMLOListElement>(null);
  const virtualizer = useRows(region, tail.head);
  const rows = virtualizer.getVirtualItems();
  const blocks = blocksOfRows(rows[0]?.index ?? 0, rows.at(-1)?.index ?? -1, tail.head);
  const queries = useQueries({
    queries: blocks.map((block) => entriesQuery(orrery, deployment, block, tail)),
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
      <Rows region={region} virtualizer={virtualizer} label="Entries, newest first">
        {(index) => {
          const at = seqOfRow(index, tail.head);
          return <EntryRow seq={at} entry={entryOf(at)} isCurrent={at === seq} onGo={onGo} />;
        }}
      </Rows>
    </>
  );
}

/** The executions that pass the filter; more are read as one scrolls on. */
function Filtered({ deployment, tail, seq, onGo }: TimelineProps) {
  const orrery = useOrrery();
  const [search] = useLiveSearch();
  const filter = historyFilter(search) ?? {};
  const query = useInfiniteQuery(filteredQuery(orrery, deployment, filter, tail.generation));
  const region = useRef<HTMLOListElement>(null);
  const entries = useMemo(() => {
    return withRecent(query.data?.pages.flat() ?? [], tail.recent, (entry) => passes(search, entry));
  }, [query.data, tail.recent, search]);
  const virtualizer = useRows(region, entries.length);
  const last = virtualizer.getVirtualItems().at(-1)?.index ?? 0;
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
        <Rows region={region} virtualizer={virtualizer} label="Entries that fit, newest first">
          {(index) => {
            const entry = entries[index];
            return (
              entry && <EntryRow seq={entry.seq} entry={entry} isCurrent={entry.seq === seq} onGo={onGo} />
            );
          }}
        </Rows>
      )}
    </>
  );
}

const useRows = (region: React.RefObject<HTMLOListElement | null>, count: number) =>
  useVirtualizer<HTMLOListElement, Element>({
    count,
    getScrollElement: () => region.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 8,
  });

interface RowsProps {
  region: React.RefObject<HTMLOListElement | null>;
  virtualizer: Virtualizer<HTMLOListElement, Element>;
  label: string;
  children: (index: number) => ReactNode;
}

const Rows = ({ region, virtualizer, label, children }: RowsProps) => (
  <ol
    ref={region}
    aria-label={label}
    className={classes('max-h-92 overflow-y-auto rounded-lg border border-line bg-surface')}
  >
    <li aria-hidden="true" style={{ height: virtualizer.getVirtualItems()[0]?.start ?? 0 }} />
    {virtualizer.getVirtualItems().map(({ index, key }) => (
      <li key={key} style={{ height: ROW_HEIGHT }} className="border-b border-line last:border-b-0">
        {children(index)}
      </li>
    ))}
    <li
      aria-hidden="true"
      style={{ height: virtualizer.getTotalSize() - (virtualizer.getVirtualItems().at(-1)?.end ?? 0) }}
    />
  </ol>
);
