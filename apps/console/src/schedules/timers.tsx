import { useChange } from '../api/change.js';
import { deploymentPath, TIMERS, useDeploymentRef } from '../api/deployments.js';
import { keyOf, REFRESHED, usePage } from '../api/read.js';
import type { Timer } from '../api/records.js';
import { EntryLink } from '../deployments/entry-link.js';
import { Button } from '../ui/button.js';
import { JsonView } from '../ui/json-view.js';
import { ErrorNote } from '../ui/messages.js';
import { Empty, Section } from '../ui/page.js';
import { type Column, Listing } from '../ui/table.js';
import { Badge, Time } from '../ui/values.js';

/** What is to come by itself: executions that others have set, or a request. */
export function Timers({ page, onPage }: { page: number; onPage: (page: number) => void }) {
  const path = deploymentPath(useDeploymentRef());
  return (
    <Section
      title="To come"
      lead="Executions that were set for later, the next first. Each is executed once, when it is due."
    >
      <Listing
        query={usePage(TIMERS, path, { page }, REFRESHED)}
        what="what is to come"
        label="Timers"
        columns={COLUMNS}
        rowKey={({ timerId }) => timerId}
        empty={<Empty title="Nothing is set for later." />}
        onPage={onPage}
      />
    </Section>
  );
}

const COLUMNS: readonly Column<Timer>[] = [
  {
    header: 'Due',
    cell: ({ dueAt }) => (
      <>
        <Time at={dueAt} /> <span className="text-muted">({<Time at={dueAt} relative />})</span>
      </>
    ),
  },
  { header: 'Event', cell: ({ event }) => event },
  {
    header: 'Input',
    className: 'min-w-56',
    cell: ({ input }) => <JsonView label="Input" value={input} maxHeight={120} />,
  },
  { header: 'Key', cell: ({ key }) => key ?? '–' },
  { header: 'Set by', cell: ({ cause }) => <EntryLink seq={cause.seq} /> },
  { header: 'Stop it', alignRight: true, cell: (timer) => <Cancel timer={timer} /> },
];

function Cancel({ timer: { timerId, event, executionId } }: { timer: Timer }) {
  const path = { ...deploymentPath(useDeploymentRef()), timerId };
  const cancel = useChange(
    (orrery, _: undefined) => orrery.delete(`${TIMERS}/{timerId}`, { path }),
    [keyOf(TIMERS, path)],
  );
  if (executionId !== null) return <Badge>being executed</Badge>;
  return (
    <>
      <Button
        size="small"
        pending={cancel.isPending}
        onClick={() => cancel.mutate(undefined)}
        aria-label={`Cancel: ${event}`}
      >
        Cancel
      </Button>
      {cancel.isError && <ErrorNote error={cancel.error} failed="It was not cancelled" />}
    </>
  );
}
