import { Link, Outlet, useMatches, useParams, useRouterState, useSearch } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import { useDeployment } from '../api/deployments.js';
import type { DeploymentRef } from '../api/records.js';
import { useWorld } from '../api/worlds.js';
import { useIsInterrupted, useIsSignedIn } from '../session/session.js';
import { SignInPage } from '../session/sign-in-page.js';
import { Covered } from '../ui/dialog.js';
import { Keys } from './keys.js';
import { Brand, Navigation, NavigationDialog, WorldTree } from './navigation.js';

/** What surrounds every page: the way past the navigation, the navigation, where one is. */
export function Frame() {
  const isSignedIn = useIsSignedIn();
  const isInterrupted = useIsInterrupted();
  return (
    <>
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:absolute focus:top-2 focus:left-2 focus:z-50 focus:rounded-md focus:bg-accent focus:px-3 focus:py-2 focus:text-on-accent"
      >
        Skip to the content
      </a>
      {isInterrupted && (
        <main>
          <SignInPage />
        </main>
      )}
      {isSignedIn || isInterrupted ? (
        <Covered value={isInterrupted}>
          <div hidden={isInterrupted}>
            <SignedIn />
          </div>
        </Covered>
      ) : (
        <Content />
      )}
    </>
  );
}

function SignedIn() {
  const { world } = useParams({ strict: false });
  // Where there is no way to show, a wide page needs no line for it.
  const isWay = world !== undefined;
  return (
    <>
      <Keys />
      <div className="lg:grid lg:grid-cols-[15.5rem_minmax(0,1fr)]">
        <aside className="sticky top-0 hidden h-dvh flex-col overflow-y-auto border-r border-line bg-surface lg:flex">
          <Brand />
          <Navigation>
            <WorldTree />
          </Navigation>
        </aside>
        <div className="flex min-h-dvh min-w-0 flex-col">
          <header
            className={`sticky top-0 z-20 flex h-12 items-center gap-2 border-b border-line bg-bg px-4 sm:px-6 ${isWay ? '' : 'lg:hidden'}`}
          >
            <NavigationDialog>
              <WorldTree />
            </NavigationDialog>
            <Crumbs />
          </header>
          <Content />
        </div>
      </div>
    </>
  );
}

function Content() {
  const content = useRef<HTMLElement>(null);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const before = useRef(path);
  // A new page is announced, and the keyboard goes on at its start.
  useEffect(() => {
    if (before.current !== path) content.current?.focus({ preventScroll: true });
    before.current = path;
  }, [path]);
  return (
    <main id="content" ref={content} tabIndex={-1} className="grow outline-none">
      <Outlet />
    </main>
  );
}

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
    case '/worlds/$world/map':
      return 'Map';
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
