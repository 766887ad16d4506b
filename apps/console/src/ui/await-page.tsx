import { OrreryError } from '@orrery/sdk';
import { useParams } from '@tanstack/react-router';
import { ButtonLink } from './button.js';
import { Await, type AwaitProps, ErrorNote } from './messages.js';
import { Empty, Page } from './page.js';

export interface AwaitPageProps<T> extends Omit<AwaitProps<T>, 'what'> {
  /** What the page is about: "world". */
  what: string;
}

/** What the page of a thing shows once it is read; where it is not there or cannot be read, a page that leads back. */
export function AwaitPage<T>({ query, what, children }: AwaitPageProps<T>) {
  const { data, error, refetch } = query;
  if (data !== undefined || error === null)
    return (
      <Await query={query} what={`the ${what}`}>
        {children}
      </Await>
    );
  if (error instanceof OrreryError && error.status === 404) return <Missing what={what} />;
  return (
    <Page title={`The ${what} could not be read`}>
      <ErrorNote error={error} onRetry={() => void refetch()} />
    </Page>
  );
}

/** The page of what does not exist, or is not for the key of the session. */
export function Missing({ what }: { what: string }) {
  const { world } = useParams({ strict: false });
  const isInWorld = world !== undefined && what !== 'world';
  const back = isInWorld ? (
    <ButtonLink to="/worlds/$world" params={{ world }}>
      To the world
    </ButtonLink>
  ) : (
    <ButtonLink to="/">To the worlds</ButtonLink>
  );
  return (
    <Page title={`There is no such ${what}`}>
      <Empty title="Nothing that you can see has this address." action={back}>
        It was renamed or deleted, the link is mistyped, or it belongs to somebody else.
      </Empty>
    </Page>
  );
}
