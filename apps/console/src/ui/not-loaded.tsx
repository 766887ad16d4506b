import { useMutation } from '@tanstack/react-query';
import { Component, type ReactNode } from 'react';
import { Button } from './button.js';
import { ErrorNote } from './messages.js';

/** A file of the console did not come: the server is away, or has another release than this tab by now. */
export class NotLoaded extends Error {
  constructor(cause: unknown) {
    super('The server did not give a file of this page.', { cause });
  }
}

/** @throws NotLoaded. The router would reload the page by itself otherwise, also where no server answers. */
export const loaded = <Part,>(load: () => Promise<Part>): Promise<Part> =>
  load().catch((cause: unknown) => {
    throw new NotLoaded(cause);
  });

const FILE = /https?:\S+\.js/;

/** Loads a part that may not have come before: Chromium keeps a file that did not come as failed, so it gets another address. */
export const loadedAnew = <Part,>(load: () => Promise<Part>): Promise<Part> =>
  loaded(() =>
    load().catch((cause: unknown) => {
      const file = FILE.exec(String(cause))?.[0];
      if (file === undefined) throw cause;
      return import(/* @vite-ignore */ `${file}?again=${Date.now()}`) as Promise<Part>;
    }),
  );

/** Loads the page anew once the server answers: the browser's own page of errors leads nowhere. */
export function Reload() {
  const reload = useMutation({
    mutationFn: async () => {
      // As a browser asks for a page.
      const headers = { accept: 'text/html' };
      const { ok, status } = await fetch(location.pathname, { headers, cache: 'no-store' });
      if (!ok) throw new Error(`The server answered with status ${status}.`);
      location.reload();
    },
  });
  return (
    <div>
      <Button look="primary" pending={reload.isPending} onClick={() => reload.mutate()}>
        Reload
      </Button>
      {reload.isError && (
        <p role="alert" className="mt-2 text-bad">
          The server does not answer. Try again in a moment.
        </p>
      )}
    </div>
  );
}

interface PartBoundaryProps {
  /** What could not be loaded: "The editor". */
  what: string;
  onRetry: () => void;
  children: ReactNode;
}

/** Keeps a part of a page that did not load from taking the page with it, and what was typed there. */
export class PartBoundary extends Component<PartBoundaryProps, { error: unknown }> {
  override state = { error: undefined as unknown };

  static getDerivedStateFromError = (error: unknown) => ({ error });

  override render() {
    const { what, onRetry, children } = this.props;
    const { error } = this.state;
    if (error === undefined) return children;
    if (!(error instanceof NotLoaded)) throw error;
    return <ErrorNote title={`${what} could not be loaded`} error={error} onRetry={onRetry} />;
  }
}
