import { useQueries } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Button } from '../ui/button.js';
import { Chart } from '../ui/lazily.js';
import { ErrorNote } from '../ui/messages.js';
import { Section } from '../ui/page.js';
import type { JournalEntry } from './entry-words.js';
import { useLive } from './live.js';
import { MAX_PLOTTED, toggled, useLiveSearch } from './live-search.js';
import { LONGEST_LINE } from './queries.js';
import { withRecent } from './tail.js';

export function Lines() {
  const { journal, tail } = useLive();
  const [{ plot = [], of, over = 'seq' }, change] = useLiveSearch();
  const queries = useQueries({
    queries: plot.map((instance) => journal.changes(instance, tail.generation)),
  });
  const failed = queries.find(({ error }) => error !== null);
  const histories = plot.map((instance, index) => ({
    instance,
    entries: withRecent(
      queries[index]?.data ?? [],
      tail.recent,
      ({ stateChanges }) => instance in stateChanges,
    ),
  }));
  const often = numbersIn(histories);
  const names = often.toSorted();
  const chosen = (of ?? often.slice(0, 1)).slice(0, MAX_PLOTTED);
  if (plot.length === 0)
    return <p className="text-sm text-muted">Tick instances to draw their numbers over the journal.</p>;
  return (
    <Section
      title="Numbers"
      lead={`The latest ${LONGEST_LINE} changes of each instance at most. A click goes to the entry.`}
      className="mb-0"
      actions={
        <Button size="small" onClick={() => void change({ over: over === 'seq' ? 'time' : undefined })}>
          {over === 'seq' ? 'Over time' : 'Over entries'}
        </Button>
      }
    >
      <ErrorNote
        error={failed?.error}
        title="Could not load the numbers"
        onRetry={() => void failed?.refetch()}
      />
      <fieldset className="mb-2 flex flex-wrap gap-1.5">
        <legend className="sr-only">Attributes to draw</legend>
        {names.map((name) => (
          <Button
            key={name}
            size="small"
            look={chosen.includes(name) ? 'primary' : 'secondary'}
            aria-pressed={chosen.includes(name)}
            onClick={() => void change({ of: toggled(chosen, name) ?? [] })}
          >
            {name}
          </Button>
        ))}
      </fieldset>
      <Drawing histories={histories} chosen={chosen} over={over} />
    </Section>
  );
}

interface DrawingProps {
  histories: readonly { instance: string; entries: readonly JournalEntry[] }[];
  chosen: readonly string[];
  over: 'seq' | 'time';
}

function Drawing({ histories, chosen, over }: DrawingProps) {
  const { rested: seq, tail, go } = useLive();
  const { head } = tail;
  const lines = useMemo(
    () =>
      histories
        .flatMap(({ instance, entries }) =>
          chosen.map((name) => ({ label: `${instance} ${name}`, points: pointsOf(entries, instance, name) })),
        )
        .filter(({ points }) => points.length > 0)
        .slice(0, MAX_PLOTTED),
    [histories, chosen],
  );
  const points = lines.map((line) => line.points);
  const [x = [], ...columns] = useMemo(() => plotColumns(points, over, head), [points, over, head]);
  if (lines.length === 0)
    return (
      <p className="text-muted">{chosen.length === 0 ? 'Choose an attribute to draw.' : 'No numbers yet.'}</p>
    );
  const labels = lines.map(({ label }) => label);
  const marked = over === 'seq' ? seq : points.flat().findLast((point) => point.seq <= seq)?.time;
  return (
    <div className="rounded-lg border border-line bg-surface p-3">
      <Chart
        label={`${labels.join(', ')} over ${over === 'seq' ? 'entries' : 'time'}`}
        x={x.map(Number)}
        xKind={over}
        kind="steps"
        isWhole={points.flat().every(({ value }) => Number.isInteger(value ?? 0))}
        series={labels.map((label, index) => ({ label, values: columns[index] ?? [] }))}
        marker={marked}
        onPick={(at) => go(nearestSeq(points, over, at))}
      />
      <ul className="sr-only">
        {lines.map(({ label, points: all }) => (
          <li key={label}>
            {label}: {all.at(-1)?.value ?? 'none'} now, {all.length} changes
          </li>
        ))}
      </ul>
    </div>
  );
}

/** One value of an attribute, as an entry left it; null: the attribute or the instance is gone. */
export interface Point {
  readonly seq: number;
  /** Seconds since 1970. */
  readonly time: number;
  readonly value: number | null;
}

/** The values that entries gave an instance's attribute, oldest first. Entries may come in any order. */
export function pointsOf(entries: Iterable<JournalEntry>, instance: string, attribute: string): Point[] {
  const points: Point[] = [];
  for (const entry of entries) {
    const change = entry.stateChanges[instance];
    if (change === undefined) continue;
    const value = change === null ? null : change[attribute];
    if (value === undefined) continue;
    points.push({
      seq: entry.seq,
      time: Date.parse(entry.executedAt) / 1000,
      value: typeof value === 'number' ? value : null,
    });
  }
  return points.sort((a, b) => a.seq - b.seq);
}

/**
 * Columns as uPlot takes them: first the axis, then one per line; a line holds its value where others change.
 * @param head the last entry: to it lines are held over entries
 */
export function plotColumns(
  lines: readonly (readonly Point[])[],
  over: 'seq' | 'time',
  head?: number,
): (number | null)[][] {
  const axis = new Map<number, number>();
  if (over === 'seq' && head !== undefined && lines.length > 0) axis.set(head, head);
  for (const { seq, time } of lines.flat()) axis.set(seq, over === 'seq' ? seq : time);
  const seqs = [...axis.keys()].sort((a, b) => a - b);
  return [seqs.map((seq) => axis.get(seq) ?? null), ...lines.map((line) => heldAt(line, seqs))];
}

function heldAt(line: readonly Point[], seqs: readonly number[]): (number | null)[] {
  let next = 0;
  let held: number | null = null;
  return seqs.map((seq) => {
    for (let point = line[next]; point !== undefined && point.seq <= seq; point = line[next]) {
      held = point.value;
      next += 1;
    }
    return held;
  });
}

/** The entry whose point is nearest to a value of the axis. */
export function nearestSeq(
  lines: readonly (readonly Point[])[],
  over: 'seq' | 'time',
  at: number,
): number | undefined {
  let nearest: Point | undefined;
  const distance = (point: Point) => Math.abs(point[over] - at);
  for (const point of lines.flat())
    if (nearest === undefined || distance(point) < distance(nearest)) nearest = point;
  return nearest?.seq;
}

/** Attributes that have numbers in these histories: those that change most often first, else by name. */
export function numbersIn(
  histories: readonly { readonly instance: string; readonly entries: readonly JournalEntry[] }[],
): string[] {
  const counts = new Map<string, number>();
  for (const { instance, entries } of histories)
    for (const { stateChanges } of entries)
      for (const [name, value] of Object.entries(stateChanges[instance] ?? {}))
        if (typeof value === 'number') counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts]
    .sort(([a, timesA], [b, timesB]) => timesB - timesA || (a < b ? -1 : 1))
    .map(([name]) => name);
}
