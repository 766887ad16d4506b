import { OrreryError } from '@orrery/sdk';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { deploymentKey } from '../api/deployments.js';
import type { DeploymentRef } from '../api/records.js';
import { endIfRefused, useOrrery, useSession } from '../session/session.js';
import type { JournalEntry } from './entry-words.js';
import { createPace } from './pace.js';
import { tailKey, tailQuery } from './queries.js';
import { advanced, type Tail } from './tail.js';

/** A busy deployment is shown anew this often, in milliseconds. */
const PACE_MS = 150;

export function useTail(ref: DeploymentRef) {
  const { world, deployment } = ref;
  const session = useSession();
  const orrery = useOrrery();
  const client = useQueryClient();
  const query = useQuery(tailQuery(orrery, ref));
  const [error, setError] = useState<unknown>(null);
  const [tries, setTries] = useState(0);
  const isThere = query.data !== undefined;
  // Another one of `tries` starts it anew.
  useEffect(() => {
    if (!isThere || tries < 0) return;
    const followed = { world, deployment };
    const leaving = new AbortController();
    const pace = createPace<JournalEntry>(PACE_MS, (entries) =>
      client.setQueryData<Tail>(tailKey(followed), (tail) => tail && advanced(tail, entries)),
    );
    const after = client.getQueryData<Tail>(tailKey(followed))?.head ?? 0;
    const { signal } = leaving;
    const follow = async () => {
      const stream = orrery.deployment(world, deployment).stream({ after, include: 'all', signal });
      for await (const event of stream) if (event.type === 'entry') pace.add(event.entry);
    };
    follow().catch((caught: unknown) => {
      if (signal.aborted) return;
      endIfRefused(session, caught);
      setError(caught);
    });
    return () => {
      leaving.abort();
      pace.stop();
    };
  }, [client, orrery, session, world, deployment, isThere, tries]);
  const again = () => {
    setError(null);
    // Where the database has lost entries, what was read of them is wrong.
    if (error instanceof OrreryError && error.code === 'tail_lost')
      void client.resetQueries({ queryKey: deploymentKey(ref) });
    setTries((count) => count + 1);
  };
  return { query, error, again };
}
