import type { ErrorComponentProps } from '@tanstack/react-router';
import { ButtonLink } from '../ui/button.js';
import { ErrorNote } from '../ui/messages.js';
import { NotLoaded, Reload } from '../ui/not-loaded.js';
import { Empty, Page } from '../ui/page.js';

export const NotFound = () => (
  <Page title="There is no such page">
    <Empty title="Nothing has this address." action={<ButtonLink to="/">To the worlds</ButtonLink>}>
      The link may be mistyped, or what it led to was deleted.
    </Empty>
  </Page>
);

/** A page that could not be loaded or drawn. */
export const PageFailed = ({ error }: ErrorComponentProps) =>
  error instanceof NotLoaded ? (
    <Page title="This page did not load">
      <Empty title="The server did not give its files." action={<Reload />}>
        It may have a newer release of the console since this tab was opened, or be away for a moment. You
        stay signed in.
      </Empty>
    </Page>
  ) : (
    <Page title="This page could not be shown">
      <ErrorNote error={error} />
      <Reload />
    </Page>
  );
