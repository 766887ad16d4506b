import type { ReplayComparison, ReplayEstimate, ReplayedEntry, ReplayOptions } from '@orrery/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { DEPLOYMENTS, useDeploymentRef } from '../api/deployments.js';
import { listKeyOf } from '../api/read.js';
import { useOrrery } from '../session/session.js';

/** What is replayed, and what is different. */
export type Question = Pick<ReplayOptions, 'from' | 'to' | 'versions' | 'model' | 'times' | 'keep'>;

/** Both histories, and the first entries that end otherwise. */
export interface Replayed {
  readonly comparison: ReplayComparison;
  readonly entries: readonly ReplayedEntry[];
}

interface Asked {
  readonly question: Question;
  /** Models may be asked. */
  readonly isAgreed?: boolean;
}

/** Entries that end otherwise and are shown. */
export const MOST_SHOWN = 50;
/** How often progress is shown, in milliseconds. */
const SHOWN_EVERY_MS = 100;

export type Replayer = ReturnType<typeof useReplay>;

/**
 * A replay that runs in this page, and ends when one leaves it. It answers undefined where models would be asked and
 * nobody has agreed: `estimate` says what they cost.
 */
export function useReplay() {
  const orrery = useOrrery();
  const { world, deployment } = useDeploymentRef();
  const queries = useQueryClient();
  const [progress, setProgress] = useState<{ done: number; of: number }>();
  const [asked, setAsked] = useState<{ question: Question; estimate: ReplayEstimate }>();
  const leaving = useRef<AbortController>(null);
  const run = useMutation({
    mutationFn: async ({ question, isAgreed = false }: Asked): Promise<Replayed | undefined> => {
      leaving.current = new AbortController();
      const { signal } = leaving.current;
      setProgress(undefined);
      setAsked(undefined);
      const replay = orrery.deployment(world, deployment).replay({ ...question, signal });
      const estimate = await replay.estimate();
      if (!isAgreed && estimate.cost.executions + estimate.withoutEstimate > 0) {
        setAsked({ question, estimate });
        return undefined;
      }
      const of = (estimate.to - estimate.from + 1) * estimate.runs;
      const entries: ReplayedEntry[] = [];
      let [done, shownAt] = [0, Number.NEGATIVE_INFINITY];
      for await (const entry of replay) {
        done += 1;
        if (entry.parts && entries.length < MOST_SHOWN) entries.push(entry);
        if (performance.now() - shownAt < SHOWN_EVERY_MS) continue;
        shownAt = performance.now();
        setProgress({ done, of });
      }
      return { comparison: await replay.comparison(), entries };
    },
    onSettled: () => queries.invalidateQueries({ queryKey: listKeyOf(DEPLOYMENTS, { worldAddress: world }) }),
  });
  useEffect(() => () => leaving.current?.abort(), []);
  const stop = () => {
    leaving.current?.abort();
    run.reset();
  };
  return { run, progress, stop, estimate: asked?.estimate, question: asked?.question };
}
