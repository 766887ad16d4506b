import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type Schedule, schedulesQuery } from '../api/schedules.js';
import { useDeploymentRef } from '../deployments/use-deployment-ref.js';
import { useOrrery } from '../session/use-session.js';
import { Await } from '../ui/await.js';
import { ButtonLink } from '../ui/button.js';
import { Empty } from '../ui/empty.js';
import { Ledger } from './ledger.js';
import { ScheduleCard } from './schedule-card.js';

/** When the deployment runs events by itself, and what became of each due time. */
export function SchedulesPage() {
  const ref = useDeploymentRef();
  const query = useQuery(schedulesQuery(useOrrery(), ref));
  return (
    <Await query={query} what="the schedules">
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
  const from = '/worlds/$world/deployments/$deployment/schedules';
  const { event = schedules[0]?.event ?? '', status, page = 1 } = useSearch({ from });
  const navigate = useNavigate({ from });
  return (
    <>
      <ul className="mb-6 grid gap-3 xl:grid-cols-2">
        {schedules.map((schedule) => (
          <li key={schedule.event}>
            <ScheduleCard schedule={schedule} isChosen={schedule.event === event} />
          </li>
        ))}
      </ul>
      <Ledger
        event={event}
        status={status}
        page={page}
        onChange={(change) => void navigate({ search: (search) => ({ ...search, ...change }) })}
      />
    </>
  );
}
