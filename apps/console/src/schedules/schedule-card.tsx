import { Link } from '@tanstack/react-router';
import { useChange } from '../api/change.js';
import { deploymentPath, SCHEDULES, useDeploymentRef, useNextTimes } from '../api/deployments.js';
import { keyOf } from '../api/read.js';
import type { Schedule } from '../api/records.js';
import { Button } from '../ui/button.js';
import { ErrorNote } from '../ui/messages.js';
import { Card, Details } from '../ui/page.js';
import { Badge, Time } from '../ui/values.js';
import { outcomeTone, outcomeWords } from './ledger-words.js';

export function ScheduleCard({ schedule, isChosen }: { schedule: Schedule; isChosen: boolean }) {
  const { event, eventVersion, status, counter, consecutiveFailures, lastError } = schedule;
  return (
    <Card className={isChosen ? 'h-full border-accent' : 'h-full'}>
      <div className="mb-2 flex flex-wrap items-center gap-x-2 gap-y-1.5">
        <h2 className="min-w-0 grow text-lg font-semibold break-words">
          <Link
            to="/worlds/$world/deployments/$deployment/schedules"
            params={useDeploymentRef()}
            search={{ event }}
            className="hover:underline"
          >
            {event}
          </Link>{' '}
          <span className="font-normal text-muted">v{eventVersion}</span>
        </h2>
        <Badge tone={status === 'active' ? 'ok' : 'warn'}>{pauseWords(schedule)}</Badge>
      </div>
      <Timing of={schedule} />
      <p className="mt-2 text-sm text-muted">
        {counter.toLocaleString('en')} fired
        {consecutiveFailures > 0 && `, the last ${consecutiveFailures} failed`}
      </p>
      {lastError && (
        <p className="mt-1 text-sm break-words">
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

type Verb = 'pause' | 'resume' | 'run';
const FAILED: Record<Verb, string> = {
  pause: 'It was not paused',
  resume: 'It was not resumed',
  run: 'It was not run',
};

function ScheduleActions({ schedule: { event, pausedBy } }: { schedule: Schedule }) {
  const ref = useDeploymentRef();
  const path = { ...deploymentPath(ref), event };
  const act = useChange(
    (orrery, verb: Verb): Promise<unknown> => orrery.post(`${SCHEDULES}/{event}/${verb}`, { path }),
    [keyOf(SCHEDULES, path)],
  );
  const button = (verb: Verb, words: string) => (
    <Button
      size="small"
      pending={act.isPending && act.variables === verb}
      disabled={act.isPending}
      onClick={() => act.mutate(verb)}
      aria-label={`${words}: ${event}`}
    >
      {words}
    </Button>
  );
  return (
    <>
      <div className="mt-3 flex flex-wrap gap-2">
        {button('run', 'Run now')}
        {pausedBy.includes('schedule') ? button('resume', 'Resume') : button('pause', 'Pause')}
      </div>
      {act.isError && <ErrorNote error={act.error} title={FAILED[act.variables]} />}
    </>
  );
}
