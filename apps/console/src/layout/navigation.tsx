import type { Page } from '@orrery/sdk';
import { createLink, Link, useParams, useRouterState } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { useDeployments } from '../api/deployments.js';
import { useEvents, useSchemas, useWorld } from '../api/worlds.js';
import { useSession } from '../session/session.js';
import { signOut } from '../session/sign-in.js';
import { type AnchorProps, Button } from '../ui/button.js';
import { Dialog } from '../ui/dialog.js';
import mark from '../ui/mark.svg';
import { ThemeSwitch, ZoneSwitch } from '../ui/theme.js';
import { FindButton, ShortcutsButton } from './keys.js';

export const Brand = () => (
  <Link to="/" className="flex h-12 shrink-0 items-center gap-2 px-4 font-semibold tracking-tight">
    <img src={mark} alt="" className="size-6" />
    Orrery <span className="font-normal text-muted">console</span>
  </Link>
);

/** A line of the navigation; it takes the props of the router's `Link`. */
export const NavigationLink = createLink(({ className = '', ...rest }: AnchorProps) => (
  <a
    {...rest}
    className={`block truncate rounded-md px-2 py-1 text-muted hover:bg-hover hover:text-text aria-[current=page]:bg-accent-soft aria-[current=page]:font-medium aria-[current=page]:text-accent ${className}`}
  />
));

/** `children`: what belongs to where one is. */
export function Navigation({ children }: { children?: ReactNode }) {
  const session = useSession();
  return (
    <nav aria-label="Main" className="flex grow flex-col px-2 pb-3">
      <div className="mb-2">
        <FindButton />
      </div>
      <ul className="space-y-0.5">
        <li>
          <NavigationLink to="/" activeOptions={{ exact: true }}>
            Worlds
          </NavigationLink>
        </li>
        <li>
          <NavigationLink to="/keys">API keys</NavigationLink>
        </li>
      </ul>
      <div className="my-3 grow">{children}</div>
      <div className="space-y-2 border-t border-line px-2 pt-3 text-sm">
        <a href="/docs" className="block text-muted hover:text-text">
          API reference
        </a>
        <ShortcutsButton />
        <ZoneSwitch />
        <div className="flex items-center justify-between gap-2">
          <ThemeSwitch />
          <Button size="small" look="quiet" onClick={() => void signOut(session)}>
            Sign out
          </Button>
        </div>
      </div>
    </nav>
  );
}

/** The same navigation where the page is narrow. It closes when a page was chosen. */
export function NavigationDialog({ children }: { children?: ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  const path = useRouterState({ select: ({ location }) => location.href });
  const [openedAt, setOpenedAt] = useState(path);
  useEffect(() => {
    if (path !== openedAt) setOpen(false);
  }, [path, openedAt]);
  const open = () => {
    setOpenedAt(path);
    setOpen(true);
  };
  return (
    <>
      <Button size="small" look="quiet" className="-ml-2 lg:hidden" aria-label="Menu" onClick={open}>
        <svg viewBox="0 0 16 16" className="size-4" aria-hidden="true">
          <path d="M2 4h12M2 8h12M2 12h12" stroke="currentColor" strokeWidth="1.6" />
        </svg>
      </Button>
      <Dialog title="Orrery console" open={isOpen} onClose={() => setOpen(false)}>
        <Navigation>{children}</Navigation>
      </Dialog>
    </>
  );
}

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

function Branch<Item extends { name: string; address?: string }>(props: BranchProps<Item>) {
  const { title, world, list, children } = props;
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
