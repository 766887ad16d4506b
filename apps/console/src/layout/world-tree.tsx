import type { Page } from '@orrery/sdk';
import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useDeployments } from '../api/deployments.js';
import { useEvents, useSchemas, useWorld } from '../api/worlds.js';
import { NavigationLink } from './navigation.js';

export function WorldTree() {
  const { world } = useParams({ strict: false });
  return world === undefined ? null : <Tree world={world} />;
}

function Tree({ world }: { world: string }) {
  const { data } = useWorld(world);
  const { data: schemas } = useSchemas(world);
  const { data: events } = useEvents(world);
  const { data: deployments } = useDeployments(world);
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
      <Branch title="Deployments" world={world} list={deployments}>
        {({ address, name }) => (
          <NavigationLink to="/worlds/$world/deployments/$deployment" params={{ world, deployment: address }}>
            {name}
          </NavigationLink>
        )}
      </Branch>
      <Branch title="Events" world={world} list={events}>
        {({ name }) => (
          <NavigationLink to="/worlds/$world/events/$event" params={{ world, event: name }}>
            {name}
          </NavigationLink>
        )}
      </Branch>
      <Branch title="Entity schemas" world={world} list={schemas}>
        {({ name }) => (
          <NavigationLink to="/worlds/$world/schemas/$schema" params={{ world, schema: name }}>
            {name}
          </NavigationLink>
        )}
      </Branch>
    </div>
  );
}

/** Of a branch; the page of the world lists all. */
const MOST_SHOWN = 30;

interface BranchProps<Item> {
  title: string;
  world: string;
  list: Page<Item> | undefined;
  children: (item: Item) => ReactNode;
}

function Branch<Item extends { name: string; address?: string }>({
  title,
  world,
  list,
  children,
}: BranchProps<Item>) {
  const total = list?.pagination.total ?? 0;
  if (list === undefined || total === 0) return null;
  return (
    <div className="mt-2.5">
      <h2 className="flex justify-between px-2 pb-0.5 text-sm font-semibold text-muted">
        {title} <span className="font-normal">{total}</span>
      </h2>
      <ul>
        {list.data.slice(0, MOST_SHOWN).map((item) => (
          <li key={item.address ?? item.name}>{children(item)}</li>
        ))}
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
  );
}
