import { useDeploymentRef } from '../api/deployments.js';
import { useOrrery } from '../session/session.js';
import { Await, ErrorNote } from '../ui/messages.js';
import { EntryPanel } from './entry-panel.js';
import { Instances } from './instances.js';
import { Lines } from './lines.js';
import { LiveContext } from './live.js';
import { Position, type PositionProps, usePosition } from './position.js';
import { journalOf, type Tail } from './queries.js';
import { useTail } from './tail.js';
import { Timeline } from './timeline.js';

export default function LivePage() {
  const { query, error, again, lostAt } = useTail(useDeploymentRef());
  return (
    <>
      {error !== null && <ErrorNote title="New entries do not come any more" error={error} onRetry={again} />}
      <Await query={query} what="the journal">
        {(tail) => <LiveDeployment tail={tail} isFollowed={error === null} lostAt={lostAt} />}
      </Await>
    </>
  );
}

interface LiveDeploymentProps extends Pick<PositionProps, 'isFollowed' | 'lostAt'> {
  tail: Tail;
}

function LiveDeployment({ tail, ...following }: LiveDeploymentProps) {
  const journal = journalOf(useOrrery(), useDeploymentRef());
  const { isFollowing, missing, ...position } = usePosition(journal, tail.head);
  return (
    <LiveContext value={{ journal, tail, ...position }}>
      <Position isFollowing={isFollowing} missing={missing} {...following} />
      <div className="mt-4 grid items-start gap-5 xl:grid-cols-[minmax(0,1fr)_21rem] 2xl:grid-cols-[minmax(0,1fr)_25rem]">
        <div className="min-w-0 space-y-5">
          <Instances />
          <Lines />
        </div>
        <div className="min-w-0 space-y-5">
          <Timeline />
          <EntryPanel />
        </div>
      </div>
    </LiveContext>
  );
}
