import { createLink, Link, useRouterState } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { useSession } from '../session/session.js';
import { signOut } from '../session/sign-in.js';
import { type AnchorProps, Button } from '../ui/button.js';
import { Dialog } from '../ui/dialog.js';
import mark from '../ui/mark.svg';
import { ThemeSwitch } from '../ui/theme.js';

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
