import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { deploymentsQuery } from '../api/deployments.js';
import { eventsQuery } from '../api/events.js';
import { schemasQuery } from '../api/schemas.js';
import { worldQuery } from '../api/worlds.js';
import { useOrrery } from '../session/use-session.js';
import { NavigationLink } from './navigation.js';

/** What the world holds in which one is; nothing outside a world. */
export function WorldTree() {
  const { world } = useParams({ strict: false });
  return world === undefined ? null : <Tree world={world} />;
}

function Tree({ world }: { world: string }) {
  const orrery = useOrrery();
  const { data } = useQuery(worldQuery(orrery, world));
  const { data: schemas } = useQuery(schemasQuery(orrery, world));
  const { data: events } = useQuery(eventsQuery(orrery, world));
  const { data: deployments } = useQuery(deploymentsQuery(orrery, world));
  if (data === undefined) return null;
  return (
    <div className="border-t border-line pt-3">
      <NavigationLink
        to="/worlds/$world"
        params={{ world }}
        activeOptions={{ exact: true }}
        className="font-semibold text-text"
      >
        {data.name}
      </NavigationLink>
      <Branch title="Deployments" total={deployments?.pagination.total}>
        {deployments?.data.map(({ address, name }) => (
          <li key={address}>
            <NavigationLink
              to="/worlds/$world/deployments/$deployment"
              params={{ world, deployment: address }}
            >
              {name}
            </NavigationLink>
          </li>
        ))}
      </Branch>
      <Branch title="Events" total={events?.pagination.total}>
        {events?.data.map(({ name }) => (
          <li key={name}>
            <NavigationLink to="/worlds/$world/events/$event" params={{ world, event: name }}>
              {name}
            </NavigationLink>
          </li>
        ))}
      </Branch>
      <Branch title="Entity schemas" total={schemas?.pagination.total}>
        {schemas?.data.map(({ name }) => (
          <li key={name}>
            <NavigationLink to="/worlds/$world/schemas/$schema" params={{ world, schema: name }}>
              {name}
            </NavigationLink>
          </li>
        ))}
      </Branch>
    </div>
  );
}

const Branch = ({
  title,
  total,
  children,
}: {
  title: string;
  total: number | undefined;
  children: ReactNode;
}) =>
  total ? (
    <div className="mt-2.5">
      <h2 className="flex justify-between px-2 pb-0.5 text-xs font-semibold text-muted">
        {title} <span className="font-normal">{total}</span>
      </h2>
      <ul>{children}</ul>
    </div>
  ) : null;
