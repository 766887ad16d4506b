import { useParams } from '@tanstack/react-router';
import type { DeploymentRef } from '../api/records.js';
import { Await, ErrorNote } from '../ui/messages.js';
import { EntryPanel } from './entry-panel.js';
import { Instances } from './instances.js';
import { Lines } from './lines.js';
import { Position, usePosition } from './position.js';
import type { Tail } from './tail.js';
import { useTail } from './tail.js';
import { Timeline } from './timeline.js';

export default function LivePage() {
  const ref = useParams({ from: '/worlds/$world/deployments/$deployment/live' });
  const { query, error, again } = useTail(ref);
  return (
    <>
      {error !== null && <ErrorNote title="New entries do not come any more" error={error} onRetry={again} />}
      <Await query={query} what="the journal">
        {(tail) => <Live deployment={ref} tail={tail} isFollowed={error === null} />}
      </Await>
    </>
  );
}

interface LiveProps {
  deployment: DeploymentRef;
  tail: Tail;
  isFollowed: boolean;
}

function Live({ deployment, tail, isFollowed }: LiveProps) {
  const { seq, rested, go, ...position } = usePosition(deployment, tail.head);
  const parts = { deployment, tail, seq };
  return (
    <>
      <Position {...parts} {...position} isFollowed={isFollowed} onGo={go} />
      <div className="mt-4 grid items-start gap-5 xl:grid-cols-[minmax(0,1fr)_21rem] 2xl:grid-cols-[minmax(0,1fr)_25rem]">
        <div className="min-w-0 space-y-5">
          <Instances {...parts} />
          <Lines {...parts} seq={rested} onGo={go} />
        </div>
        <div className="min-w-0 space-y-5">
          <Timeline {...parts} seq={rested} onGo={go} />
          <EntryPanel {...parts} seq={rested} />
        </div>
      </div>
    </>
  );
}
