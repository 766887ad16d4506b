import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { deploymentsQuery } from '../api/deployments.js';
import { eventsQuery } from '../api/events.js';
import type { Deployment } from '../api/records.js';
import { useOrrery } from '../session/use-session.js';
import { Await } from '../ui/await.js';
import { Badge } from '../ui/badge.js';
import { ButtonLink } from '../ui/button.js';
import { Empty } from '../ui/empty.js';
import { Section } from '../ui/page.js';
import { Pager } from '../ui/pager.js';
import { type Column, Table } from '../ui/table.js';
import { Time } from '../ui/time.js';

/** The deployments of a world, and for its owner the way to a new one. */
export function DeploymentList({ world, isOwn }: { world: string; isOwn: boolean }) {
  const orrery = useOrrery();
  const { page = 1 } = useSearch({ from: '/worlds/$world' });
  const navigate = useNavigate({ from: '/worlds/$world' });
  const query = useQuery(deploymentsQuery(orrery, world, page));
  const { data: events } = useQuery(eventsQuery(orrery, world));
  const hasNoEvents = events?.data.length === 0;
  const create = isOwn && (
    <ButtonLink look={hasNoEvents ? 'secondary' : 'primary'} to="/worlds/$world/deploy" params={{ world }}>
      New deployment
    </ButtonLink>
  );
  return (
    <Section
      title="Deployments"
      lead="Each runs the world with instances and a history of its own."
      actions={query.data && query.data.data.length > 0 && create}
    >
      <Await query={query} what="the deployments">
        {({ data, pagination }) =>
          data.length === 0 ? (
            <Empty title="Nothing runs this world yet." action={create}>
              A deployment holds instances, executes events and keeps their history.
              {isOwn && hasNoEvents && ' Begin below: first an entity schema, then an event.'}
            </Empty>
          ) : (
            <>
              <Table
                label="Deployments"
                columns={columnsOf(world)}
                rows={data}
                rowKey={({ address }) => address}
              />
              <Pager
                pagination={pagination}
                what="deployments"
                onPage={(next) => void navigate({ search: { page: next } })}
              />
            </>
          )
        }
      </Await>
    </Section>
  );
}

const columnsOf = (world: string): readonly Column<Deployment>[] => [
  {
    key: 'name',
    header: 'Name',
    cell: ({ address, name, description }) => (
      <>
        <Link
          to="/worlds/$world/deployments/$deployment/live"
          params={{ world, deployment: address }}
          className="link font-medium"
        >
          {name}
        </Link>
        {description && <p className="line-clamp-1 text-sm text-muted">{description}</p>}
      </>
    ),
  },
  { key: 'state', header: 'State', cell: (deployment) => <States deployment={deployment} /> },
  { key: 'created', header: 'Created', cell: ({ createdAt }) => <Time at={createdAt} relative isPast /> },
];

const States = ({ deployment: { isPaused, isPublic, mode, source } }: { deployment: Deployment }) => (
  <span className="flex flex-wrap gap-1">
    <Badge tone={isPaused ? 'warn' : 'ok'}>{isPaused ? 'paused' : 'running'}</Badge>
    {isPublic && <Badge tone="accent">published</Badge>}
    {mode === 'locked' && <Badge>locked</Badge>}
    {source && <Badge>fork</Badge>}
  </span>
);
