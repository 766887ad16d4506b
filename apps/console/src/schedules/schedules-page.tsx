import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useChange } from '../api/change.js';
import { deploymentPath, SCHEDULES, useDeploymentRef, useNextTimes } from '../api/deployments.js';
import { keyOf, REFRESHED, useList, usePage } from '../api/read.js';
import type { Occurrence, Schedule } from '../api/records.js';
import { EntryLink } from '../deployments/entry-link.js';
import { Button, ButtonLink } from '../ui/button.js';
import { Filter } from '../ui/field.js';
import { Await, ErrorNote } from '../ui/messages.js';
import { Card, Details, Empty, Section } from '../ui/page.js';
import { usePageSearch } from '../ui/search-values.js';
import { type Column, Listing } from '../ui/table.js';
import { Badge, Failure, Time } from '../ui/values.js';
import { kindWords, outcomeTone, outcomeWords, reasonWords, STATUSES } from './ledger-words.js';
import { Timers } from './timers.js';

const ROUTE = '/worlds/$world/deployments/$deployment/schedules';

export default function SchedulesPage() {
  const [timersPage, showTimers] = useState(1);
  return (
    <>
      <Timers page={timersPage} onPage={showTimers} />
      <ScheduleList />
    </>
  );
}

function ScheduleList() {
  const ref = useDeploymentRef();
  return (
    <Await query={useList(SCHEDULES, deploymentPath(ref), REFRESHED)} what="the schedules">
      {({ data }) =>
        data.length === 0 ? (
          <Empty
            title="Nothing runs by itself here."
            action={
              <ButtonLink to="/worlds/$world" params={{ world: ref.world }}>
                Events of the world
              </ButtonLink>
            }
          >
            An event version that a schedule starts runs by itself wherever it is bound. Choose that in an
            event, under Started by, and bind the version in the settings.
          </Empty>
        ) : (
          <Schedules schedules={data} />
        )
      }
    </Await>
  );
}

function Schedules({ schedules }: { schedules: readonly Schedule[] }) {
  const [{ event = schedules[0]?.event ?? '' }] = usePageSearch(ROUTE);
  return (
    <>
      <ul className="mb-6 grid gap-3 xl:grid-cols-2">
        {schedules.map((schedule) => (
          <li key={schedule.event}>
            <ScheduleCard schedule={schedule} isChosen={schedule.event === event} />
          </li>
        ))}
      </ul>
      <Ledger event={event} />
    </>
  );
}

export function ScheduleCard({ schedule, isChosen }: { schedule: Schedule; isChosen: boolean }) {
  const { event, eventVersion, status, counter, consecutiveFailures, lastError } = schedule;
  return (
    <Card className={isChosen ? 'h-full border-accent' : 'h-full'}>
      <div className="mb-2 flex flex-wrap items-center gap-x-2 gap-y-1.5">
        <h2 className="min-w-0 grow text-lg font-semibold">
          <Link to={ROUTE} params={useDeploymentRef()} search={{ event }} className="hover:underline">
            {event}
          </Link>{' '}
          <span className="font-normal text-muted">v{eventVersion}</span>
        </h2>
        <Badge tone={status === 'active' ? 'ok' : 'warn'}>{pauseWords(schedule)}</Badge>
      </div>
      <Timing of={schedule} />
      <p className="mt-2 text-sm text-muted">
        {counter.toLocaleString('en')} due {counter === 1 ? 'time has' : 'times have'} fired, runs by hand
        aside
        {consecutiveFailures > 0 && `, the last ${consecutiveFailures} failed`}
      </p>
      {lastError && (
        <p className="mt-1 text-sm">
          <code className="font-mono text-bad">{lastError.code}</code> {lastError.detail}
        </p>
      )}
      <ScheduleActions schedule={schedule} />
    </Card>
  );
}

const pauseWords = ({ status, pausedBy }: Schedule): string =>
  status === 'active' ? 'active' : pausedBy.includes('deployment') ? 'the deployment is paused' : 'paused';

function Timing({ of }: { of: Schedule }) {
  const { schedule, timezone, nextAt, lastOccurrence, status } = of;
  const { data, error } = useNextTimes(schedule, timezone, nextAt);
  return (
    <>
      <ErrorNote error={error} title="The next times could not be read" />
      <Details
        items={{
          Due: (
            <>
              <code className="font-mono text-sm">{schedule}</code>{' '}
              {data?.description && `${data.description} `}
              <span className="text-muted">({timezone})</span>
            </>
          ),
          Next:
            status === 'paused' ? (
              'not while it is paused'
            ) : (
              <ol className="flex flex-wrap gap-x-4">
                {(data?.times ?? [nextAt]).map((at, index) => (
                  <li key={at}>
                    <Time at={at} />{' '}
                    {index === 0 && <span className="text-muted">({<Time at={at} relative />})</span>}
                  </li>
                ))}
              </ol>
            ),
          Last:
            lastOccurrence === null ? (
              'not yet'
            ) : (
              <span className="inline-flex flex-wrap items-center gap-2">
                <Time at={lastOccurrence.dueAt} relative isPast />
                <Badge tone={outcomeTone(lastOccurrence)}>{outcomeWords(lastOccurrence)}</Badge>
              </span>
            ),
        }}
      />
    </>
  );
}

function ScheduleActions({ schedule: { event, pausedBy } }: { schedule: Schedule }) {
  const ref = useDeploymentRef();
  const path = { ...deploymentPath(ref), event };
  const keys = [keyOf(SCHEDULES, path)];
  const run = useChange<unknown>(
    (orrery, _, once) => orrery.post(`${SCHEDULES}/{event}/run`, once({ path })),
    keys,
  );
  const verb = pausedBy.includes('schedule') ? 'resume' : 'pause';
  const turn = useChange(
    (orrery, to: typeof verb) => orrery.post(`${SCHEDULES}/{event}/${to}`, { path }),
    keys,
  );
  const isBusy = run.isPending || turn.isPending;
  const button = (words: string, isPending: boolean, act: () => void) => (
    <Button
      size="small"
      pending={isPending}
      disabled={isBusy}
      onClick={act}
      aria-label={`${words}: ${event}`}
    >
      {words}
    </Button>
  );
  return (
    <>
      <div className="mt-3 flex flex-wrap gap-2">
        {button('Run now', run.isPending, run.mutate)}
        {button(verb === 'resume' ? 'Resume' : 'Pause', turn.isPending, () => turn.mutate(verb))}
      </div>
      <ErrorNote error={run.error} failed="It was not run" />
      <ErrorNote error={turn.error} failed={`It was not ${turn.variables}d`} />
    </>
  );
}

function Ledger({ event }: { event: string }) {
  const [{ status, page = 1 }, show] = usePageSearch(ROUTE);
  const path = { ...deploymentPath(useDeploymentRef()), event };
  return (
    <Section
      title={`Ledger of ${event}`}
      lead="Every due time has one row, with its outcome."
      actions={
        <Filter
          label="Show"
          className="flex items-baseline gap-2"
          value={status}
          onChange={(next) => void show({ status: next, page: undefined })}
          values={STATUSES}
        />
      }
    >
      <Listing
        query={usePage(`${SCHEDULES}/{event}/occurrences`, path, { page, status }, REFRESHED)}
        what="due times"
        label={`Ledger of ${event}`}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        empty={<Empty title={status ? `No due time is ${status}.` : 'Nothing was due yet.'} />}
        onPage={(next) => void show({ page: next })}
      />
    </Section>
  );
}

const COLUMNS: readonly Column<Occurrence>[] = [
  {
    header: 'Due',
    cell: (row) => (
      <>
        <Time at={row.dueAt} />
        {row.until && (
          <>
            {' '}
            – <Time at={row.until} />
          </>
        )}
        {kindWords(row) && <p className="text-sm text-muted">{kindWords(row)}</p>}
      </>
    ),
  },
  { header: 'Outcome', cell: (row) => <Badge tone={outcomeTone(row)}>{outcomeWords(row)}</Badge> },
  { header: 'Why', className: 'min-w-56', cell: (row) => <Why row={row} /> },
  { header: 'Counter', alignRight: true, cell: ({ counter }) => counter ?? '–' },
  { header: 'Attempts', alignRight: true, cell: ({ attempts }) => attempts },
  { header: 'Entry', alignRight: true, cell: ({ seq }) => <EntryLink seq={seq} /> },
];

function Why({ row: { reason, error } }: { row: Occurrence }) {
  if (error) return <Failure error={error} />;
  return reason && reasonWords(reason);
}
