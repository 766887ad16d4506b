import { OrreryError } from '@orrery/sdk';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { deploymentKey } from '../api/deployments.js';
import type { DeploymentRef } from '../api/records.js';
import { endIfRefused, useOrrery, useSession } from '../session/session.js';
import type { JournalEntry } from './entry-words.js';
import { journalOf, type Tail } from './queries.js';
import { followShared } from './shared-stream.js';

const MOST = 400;
const KEPT = 100;

/** The tail after more entries have come; they may repeat what it has. */
export function advanced(tail: Tail, entries: readonly JournalEntry[]): Tail {
  const fresh = entries.filter(({ seq }) => seq > tail.head);
  const last = fresh.at(-1);
  if (last === undefined) return tail;
  const recent = [...tail.recent, ...fresh];
  const isFull = recent.length > MOST;
  return {
    head: last.seq,
    recent: isFull ? recent.slice(-KEPT) : recent,
    generation: tail.generation + (isFull ? 1 : 0),
  };
}

/** Entries that were read, newest first, with the recent ones that they lack. */
export function withRecent(
  read: readonly JournalEntry[],
  recent: readonly JournalEntry[],
  isWanted: (entry: JournalEntry) => boolean,
): JournalEntry[] {
  const known = new Set(read.map(({ seq }) => seq));
  const added = recent.filter((entry) => !known.has(entry.seq) && isWanted(entry));
  return added.length === 0 ? [...read] : [...added, ...read].sort((a, b) => b.seq - a.seq);
}

/** A busy deployment is shown anew this often, in milliseconds. */
const PACE_MS = 150;

/** How long after a reading that failed it is tried again, in milliseconds. */
const RETRY_MS = 2000;

export function useTail(ref: DeploymentRef) {
  const { world, deployment } = ref;
  const session = useSession();
  const orrery = useOrrery();
  const client = useQueryClient();
  const query = useQuery(journalOf(orrery, ref).tail);
  const [error, setError] = useState<unknown>(null);
  const [lostAt, setLostAt] = useState<Date>();
  const [tries, setTries] = useState(0);
  const isSeen = useIsSeen();
  const isThere = query.data !== undefined;
  // Another one of `tries` starts it anew.
  useEffect(() => {
    if (!isThere || !isSeen || tries < 0) return;
    const journal = journalOf(orrery, { world, deployment });
    const { queryKey } = journal.tail;
    const leaving = new AbortController();
    const { signal } = leaving;
    const pace = createPace<JournalEntry>(PACE_MS, (entries) => {
      client.setQueryData(queryKey, (tail) => tail && advanced(tail, entries));
      journal.follow(client, entries);
    });
    const onConnection = (isOpen: boolean) =>
      setLostAt((since) => (isOpen ? undefined : (since ?? new Date())));
    const after = client.getQueryData(queryKey)?.head ?? 0;
    let again: ReturnType<typeof setTimeout> | undefined;
    followShared(orrery.deployment(world, deployment), {
      after,
      signal,
      onEntry: pace.add,
      onConnection,
    }).catch((caught: unknown) => {
      if (signal.aborted) return;
      if (caught instanceof OrreryError && caught.retryable) {
        onConnection(false);
        again = setTimeout(() => setTries((count) => count + 1), RETRY_MS);
        return;
      }
      endIfRefused(session, caught);
      setError(caught);
    });
    return () => {
      clearTimeout(again);
      leaving.abort();
      pace.stop();
    };
  }, [client, orrery, session, world, deployment, isThere, isSeen, tries]);
  const again = () => {
    setError(null);
    // Where the database has lost entries, what was read of them is wrong.
    if (error instanceof OrreryError && error.code === 'tail_lost')
      void client.resetQueries({ queryKey: deploymentKey(ref) });
    setTries((count) => count + 1);
  };
  return { query, error, again, lostAt };
}

/** Whether the tab is in view: one that is not takes no connection, and goes on where it was. */
const useIsSeen = (): boolean =>
  useSyncExternalStore(
    (onChange) => {
      document.addEventListener('visibilitychange', onChange);
      return () => document.removeEventListener('visibilitychange', onChange);
    },
    () => document.visibilityState === 'visible',
  );

/** Hands things on in groups: the first at once, those that follow at most every `ms`. */
export function createPace<T>(ms: number, handOn: (items: readonly T[]) => void) {
  let waiting: T[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = () => {
    timer = undefined;
    if (waiting.length === 0) return;
    const items = waiting;
    waiting = [];
    timer = setTimeout(flush, ms);
    handOn(items);
  };
  return {
    add: (item: T) => {
      waiting.push(item);
      if (timer === undefined) flush();
    },
    /** What still waits is dropped. */
    stop: () => {
      clearTimeout(timer);
      waiting = [];
    },
  };
}
