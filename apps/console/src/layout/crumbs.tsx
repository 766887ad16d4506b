import { Link, useMatches, useParams, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useDeployment } from '../api/deployments.js';
import type { DeploymentRef } from '../api/records.js';
import { useWorld } from '../api/worlds.js';

/** High enough for a finger. */
const LINK = 'inline-block py-1.5 hover:text-text';

export function Crumbs() {
  const { world, deployment, schema, event } = useParams({ strict: false });
  const task = useTask();
  if (world === undefined) return null;
  return (
    <nav aria-label="Where you are" className="min-w-0">
      <ol className="flex min-w-0 items-center gap-1.5 text-sm text-muted">
        <Crumb>
          <Link to="/" className={LINK}>
            Worlds
          </Link>
        </Crumb>
        <Crumb>
          <Link to="/worlds/$world" params={{ world }} className={LINK}>
            <WorldName world={world} />
          </Link>
        </Crumb>
        {schema !== undefined && <Crumb>{schema}</Crumb>}
        {event !== undefined && (
          <Crumb>
            {task === undefined ? (
              event
            ) : (
              <Link to="/worlds/$world/events/$event" params={{ world, event }} className={LINK}>
                {event}
              </Link>
            )}
          </Crumb>
        )}
        {deployment !== undefined && (
          <Crumb>
            <DeploymentName world={world} deployment={deployment} />
          </Crumb>
        )}
        {task !== undefined && <Crumb>{task}</Crumb>}
      </ol>
    </nav>
  );
}

/** What the page is for, where that is no thing with a name yet. */
function useTask(): string | undefined {
  const { version, source } = useSearch({ strict: false });
  const route = useMatches({ select: (matches) => matches.at(-1)?.routeId });
  switch (route) {
    case '/worlds/$world/new-event':
      return 'New event';
    case '/worlds/$world/events/$event/edit':
      return version === undefined ? 'New version' : `Edit version ${version}`;
    case '/worlds/$world/deploy':
      return source === undefined ? 'New deployment' : 'Clone a deployment';
    default:
      return undefined;
  }
}

const Crumb = ({ children }: { children: ReactNode }) => (
  <li className="flex min-w-0 items-center gap-1.5 not-first:before:text-line-strong not-first:before:content-['/'] last:text-text">
    <span className="truncate">{children}</span>
  </li>
);

const WorldName = ({ world }: { world: string }) => useWorld(world).data?.name ?? world;

const DeploymentName = (ref: DeploymentRef) => useDeployment(ref).data?.name ?? ref.deployment;
