import { useDeployments } from '../api/deployments.js';
import type { Deployment } from '../api/records.js';
import { useEvents } from '../api/worlds.js';
import { ButtonLink, NameLink } from '../ui/button.js';
import { usePageSearch } from '../ui/search-values.js';
import type { Column } from '../ui/table.js';
import { ListSection } from '../ui/table.js';
import { Badge, Time } from '../ui/values.js';

export function DeploymentList({ world, isOwn }: { world: string; isOwn: boolean }) {
  const [{ page = 1 }, show] = usePageSearch('/worlds/$world');
  const hasNoEvents = useEvents(world).data?.data.length === 0;
  return (
    <ListSection
      query={useDeployments(world, page)}
      what="deployments"
      lead="Each runs the world with instances and a history of its own."
      columns={columnsOf(world)}
      rowKey={({ address }) => address}
      onPage={(next) => void show({ page: next })}
      create={
        isOwn && (
          <ButtonLink
            look={hasNoEvents ? 'secondary' : 'primary'}
            to="/worlds/$world/deploy"
            params={{ world }}
          >
            New deployment
          </ButtonLink>
        )
      }
      empty="Nothing runs this world yet."
    >
      A deployment holds instances, executes events and keeps their history.
      {isOwn && hasNoEvents && ' Begin below: first an entity schema, then an event.'}
    </ListSection>
  );
}

const columnsOf = (world: string): readonly Column<Deployment>[] => [
  {
    header: 'Name',
    cell: ({ address, name, description }) => (
      <NameLink
        words={description}
        to="/worlds/$world/deployments/$deployment/live"
        params={{ world, deployment: address }}
      >
        {name}
      </NameLink>
    ),
  },
  { header: 'State', cell: (deployment) => <States deployment={deployment} /> },
  { header: 'Created', cell: ({ createdAt }) => <Time at={createdAt} relative isPast /> },
];

const States = ({ deployment: { isPaused, isPublic, mode, source } }: { deployment: Deployment }) => (
  <span className="flex flex-wrap gap-1">
    <Badge tone={isPaused ? 'warn' : 'ok'}>{isPaused ? 'paused' : 'running'}</Badge>
    {isPublic && <Badge tone="accent">published</Badge>}
    {mode === 'locked' && <Badge>locked</Badge>}
    {source && <Badge>fork</Badge>}
  </span>
);
