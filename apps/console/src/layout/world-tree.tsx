import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
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
      <Branch title="Deployments" world={world} total={deployments?.pagination.total}>
        {deployments?.data.slice(0, MOST_SHOWN).map(({ address, name }) => (
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
      <Branch title="Events" world={world} total={events?.pagination.total}>
        {events?.data.slice(0, MOST_SHOWN).map(({ name }) => (
          <li key={name}>
            <NavigationLink to="/worlds/$world/events/$event" params={{ world, event: name }}>
              {name}
            </NavigationLink>
          </li>
        ))}
      </Branch>
      <Branch title="Entity schemas" world={world} total={schemas?.pagination.total}>
        {schemas?.data.slice(0, MOST_SHOWN).map(({ name }) => (
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

/** Of a branch; the page of the world lists all. */
const MOST_SHOWN = 30;

interface BranchProps {
  title: string;
  world: string;
  total: number | undefined;
  children: ReactNode;
}

const Branch = ({ title, world, total, children }: BranchProps) =>
  total ? (
    <div className="mt-2.5">
      <h2 className="flex justify-between px-2 pb-0.5 text-sm font-semibold text-muted">
        {title} <span className="font-normal">{total}</span>
      </h2>
      <ul>
        {children}
        {total > MOST_SHOWN && (
          <li>
            <Link
              to="/worlds/$world"
              params={{ world }}
              className="block rounded-md px-2 py-1 text-sm text-muted hover:bg-hover hover:text-text"
            >
              and {total - MOST_SHOWN} more <span className="sr-only">of {title.toLowerCase()}</span>
            </Link>
          </li>
        )}
      </ul>
    </div>
  ) : null;
