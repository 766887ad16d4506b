import type { ErrorComponentProps } from '@tanstack/react-router';
import { ButtonLink } from '../ui/button.js';
import { ErrorNote } from '../ui/messages.js';
import { Empty, Page } from '../ui/page.js';

export const NotFound = () => (
  <Page title="There is no such page">
    <Empty title="Nothing has this address." action={<ButtonLink to="/">To the worlds</ButtonLink>}>
      The link may be mistyped, or what it led to was deleted.
    </Empty>
  </Page>
);

/** A page that could not be loaded or drawn, such as after a new release replaced its files. */
export const PageFailed = ({ error }: ErrorComponentProps) => (
  <Page title="This page could not be shown">
    <ErrorNote error={error} onRetry={() => location.reload()} />
  </Page>
);
