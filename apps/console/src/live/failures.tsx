import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Button } from '../ui/button.js';
import { useLive } from './live.js';
import { MOST_FAILURES } from './queries.js';

/** Failed executions, marked above the slider; the buttons lead from one to the next. */
export function Failures() {
  const { journal, tail, seq, go } = useLive();
  const { data } = useQuery(journal.failures(tail.generation));
  const seqs = useMemo(
    () =>
      [...new Set([...(data ?? []), ...tail.recent.filter(isFailed).map((entry) => entry.seq)])].sort(
        (a, b) => a - b,
      ),
    [data, tail.recent],
  );
  if (seqs.length === 0) return null;
  const before = seqs.findLast((one) => one < seq);
  const after = seqs.find((one) => one > seq);
  return (
    <>
      <Marks seqs={seqs} last={Math.max(tail.head, 1)} onPick={go} />
      <p className="mt-1 flex flex-wrap items-center gap-x-2 text-sm text-muted">
        <span>
          <span aria-hidden="true" className="mr-1 inline-block size-2 rounded-full bg-bad" />
          {data !== undefined && data.length >= MOST_FAILURES ? `The latest ${seqs.length}` : seqs.length}{' '}
          failed
        </span>
        <Button size="small" look="quiet" disabled={before === undefined} onClick={() => go(before)}>
          Previous failure
        </Button>
        <Button size="small" look="quiet" disabled={after === undefined} onClick={() => go(after)}>
          Next failure
        </Button>
      </p>
    </>
  );
}

const isFailed = ({ status }: { status: string | null }): boolean => status === 'failed';

/** Half the width of the slider's thumb, in pixels: the first and the last entry are that far from its ends. */
const THUMB = 8;
/** Marks that a person can tell apart. */
const MOST_MARKS = 400;

/** The buttons and the journal lead to the same: a mark is too small for a finger. */
function Marks({
  seqs,
  last,
  onPick,
}: {
  seqs: readonly number[];
  last: number;
  onPick: (seq: number) => void;
}) {
  const shown = thinned(seqs, last, MOST_MARKS);
  return (
    <div aria-hidden="true" className="relative h-2" style={{ marginInline: THUMB }}>
      {shown.map((seq) => (
        <button
          key={seq}
          type="button"
          tabIndex={-1}
          title={`Entry ${seq} failed`}
          onClick={() => onPick(seq)}
          className="absolute top-0 h-2 w-0.5 -translate-x-1/2 bg-bad"
          style={{ left: `${placeOf(seq, last) * 100}%` }}
        />
      ))}
    </div>
  );
}

/** Where an entry is on a slider from 1 to the last one, 0 to 1. */
export const placeOf = (seq: number, last: number): number => (last <= 1 ? 0 : (seq - 1) / (last - 1));

/** Of marks that would cover each other the last one. */
export function thinned(seqs: readonly number[], last: number, most: number): number[] {
  const places = new Map(seqs.map((seq) => [Math.round(placeOf(seq, last) * most), seq]));
  return [...places.values()];
}
