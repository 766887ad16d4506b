import { Link } from '@tanstack/react-router';
import { useBindings, useDeployments } from '../api/deployments.js';
import type { Deployment } from '../api/records.js';
import type { EventRef } from '../api/worlds.js';
import { ButtonLink, NameLink } from '../ui/button.js';
import { ListSection } from '../ui/listing.js';

/** What each deployment binds is asked for one by one. */
const MOST_SHOWN = 10;

export function EventDeployments({ world, event }: EventRef) {
  const query = useDeployments(world);
  const data = query.data && { ...query.data, data: query.data.data.slice(0, MOST_SHOWN) };
  const left = (data?.pagination.total ?? 0) - MOST_SHOWN;
  return (
    <ListSection
      query={{ ...query, data }}
      what="deployments"
      title="Where it runs"
      label="Where it runs"
      lead="An event is executed in a deployment that binds one of its versions."
      columns={[
        { header: 'Deployment', cell: (deployment) => <Name deployment={deployment} world={world} /> },
        {
          header: 'Bound',
          cell: (deployment) => <Binding deployment={deployment} world={world} event={event} />,
        },
      ]}
      rowKey={({ address }) => address}
      create={
        <ButtonLink to="/worlds/$world/deploy" params={{ world }}>
          New deployment
        </ButtonLink>
      }
      empty="Nothing runs it yet."
      foot={
        left > 0 && (
          <p className="mt-2 text-sm text-muted">
            and {left} more on the{' '}
            <Link to="/worlds/$world" params={{ world }} className="link">
              page of the world
            </Link>
          </p>
        )
      }
    >
      A new deployment binds the events of the world that you choose.
    </ListSection>
  );
}

const Name = ({ deployment: { name, address }, world }: { deployment: Deployment; world: string }) => (
  <NameLink to="/worlds/$world/deployments/$deployment" params={{ world, deployment: address }}>
    {name}
  </NameLink>
);

function Binding({ deployment: { address, mode }, world, event }: EventRef & { deployment: Deployment }) {
  const ref = { world, deployment: address };
  const { data } = useBindings(ref);
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
