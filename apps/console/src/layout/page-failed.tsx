import type { ErrorComponentProps } from '@tanstack/react-router';
import { ErrorNote } from '../ui/error-note.js';
import { Page } from '../ui/page.js';

/** A page that could not be loaded or drawn, such as after a new release replaced its files. */
export const PageFailed = ({ error }: ErrorComponentProps) => (
  <Page title="This page could not be shown">
    <ErrorNote error={error} onRetry={() => location.reload()} />
  </Page>
);
