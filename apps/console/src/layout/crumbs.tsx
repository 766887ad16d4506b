import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { deploymentQuery } from '../api/deployments.js';
import { worldQuery } from '../api/worlds.js';
import { useOrrery } from '../session/use-session.js';

/** Where one is: the world, and what in it. The last one is the page itself. */
export function Crumbs() {
  const { world, deployment, schema, event } = useParams({ strict: false });
  if (world === undefined) return null;
  return (
    <nav aria-label="Where you are" className="min-w-0">
      <ol className="flex min-w-0 items-center gap-1.5 text-sm text-muted">
        <Crumb>
          <Link to="/" className="hover:text-text">
            Worlds
          </Link>
        </Crumb>
        <Crumb>
          <Link to="/worlds/$world" params={{ world }} className="hover:text-text">
            <WorldName world={world} />
          </Link>
        </Crumb>
        {schema !== undefined && <Crumb>{schema}</Crumb>}
        {event !== undefined && <Crumb>{event}</Crumb>}
        {deployment !== undefined && (
          <Crumb>
            <DeploymentName world={world} deployment={deployment} />
          </Crumb>
        )}
      </ol>
    </nav>
  );
}

const Crumb = ({ children }: { children: ReactNode }) => (
  <li className="flex min-w-0 items-center gap-1.5 not-first:before:text-line-strong not-first:before:content-['/'] last:text-text">
    <span className="truncate">{children}</span>
  </li>
);

function WorldName({ world }: { world: string }) {
  const { data } = useQuery(worldQuery(useOrrery(), world));
  return data?.name ?? world;
}

function DeploymentName({ world, deployment }: { world: string; deployment: string }) {
  const { data } = useQuery(deploymentQuery(useOrrery(), { world, deployment }));
  return data?.name ?? deployment;
}
