import { Outlet, useParams, useRouterState } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useIsSignedIn } from '../session/session.js';
import { Crumbs } from './crumbs.js';
import { Brand, Navigation, NavigationDialog } from './navigation.js';
import { WorldTree } from './world-tree.js';

/** What surrounds every page: the way past the navigation, the navigation, where one is. */
export function Frame() {
  const isSignedIn = useIsSignedIn();
  return (
    <>
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:absolute focus:top-2 focus:left-2 focus:z-50 focus:rounded-md focus:bg-accent focus:px-3 focus:py-2 focus:text-on-accent"
      >
        Skip to the content
      </a>
      {isSignedIn ? <SignedIn /> : <Content />}
    </>
  );
}

function SignedIn() {
  const { world } = useParams({ strict: false });
  // Where there is no way to show, a wide page needs no line for it.
  const isWay = world !== undefined;
  return (
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
