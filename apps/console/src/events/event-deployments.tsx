import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { bindingsQuery } from '../api/bindings.js';
import { deploymentsQuery } from '../api/deployments.js';
import type { Deployment } from '../api/records.js';
import { useOrrery } from '../session/use-session.js';
import { Await } from '../ui/await.js';
import { ButtonLink } from '../ui/button.js';
import { Empty } from '../ui/empty.js';
import { Section } from '../ui/page.js';
import { type Column, Table } from '../ui/table.js';
import type { EventRef } from './event-actions.js';

/** What each deployment binds is asked for one by one. */
const MOST_SHOWN = 10;

/** The deployments of the world: which version of the event each runs, and the way to bind it. */
export function EventDeployments({ world, event }: EventRef) {
  const query = useQuery(deploymentsQuery(useOrrery(), world));
  const create = (
    <ButtonLink to="/worlds/$world/deploy" params={{ world }}>
      New deployment
    </ButtonLink>
  );
  return (
    <Section
      title="Where it runs"
      lead="An event is executed in a deployment that binds one of its versions."
      actions={query.data && query.data.data.length > 0 && create}
    >
      <Await query={query} what="the deployments">
        {({ data, pagination }) =>
          data.length === 0 ? (
            <Empty title="Nothing runs it yet." action={create}>
              A new deployment binds the events of the world that you choose.
            </Empty>
          ) : (
            <>
              <Table
                label="Where it runs"
                columns={columnsOf({ world, event })}
                rows={data.slice(0, MOST_SHOWN)}
                rowKey={({ address }) => address}
              />
              {pagination.total > MOST_SHOWN && (
                <p className="mt-2 text-sm text-muted">
                  and {pagination.total - MOST_SHOWN} more on the{' '}
                  <Link to="/worlds/$world" params={{ world }} className="link">
                    page of the world
                  </Link>
                </p>
              )}
            </>
          )
        }
      </Await>
    </Section>
  );
}

const columnsOf = (ref: EventRef): readonly Column<Deployment>[] => [
  {
    key: 'name',
    header: 'Deployment',
    cell: ({ name, address }) => (
      <Link
        to="/worlds/$world/deployments/$deployment"
        params={{ world: ref.world, deployment: address }}
        className="link font-medium"
      >
        {name}
      </Link>
    ),
  },
  {
    key: 'binding',
    header: 'Bound',
    cell: (deployment) => <Binding deployment={deployment} {...ref} />,
  },
];

function Binding({ deployment: { address, mode }, world, event }: EventRef & { deployment: Deployment }) {
  const ref = { world, deployment: address };
  const { data } = useQuery(bindingsQuery(useOrrery(), ref));
  if (data === undefined) return '…';
  const bound = data.find((binding) => binding.event === event);
  if (bound !== undefined) return `version ${bound.eventVersion}`;
  if (mode === 'locked') return <span className="text-muted">no, and it is locked</span>;
  return (
    <ButtonLink size="small" to="/worlds/$world/deployments/$deployment/settings" params={ref}>
      Bind it
    </ButtonLink>
  );
}
