import { useDeploymentRef, useSchedules } from '../api/deployments.js';
import type { Schedule } from '../api/records.js';
import { ButtonLink } from '../ui/button.js';
import { Await } from '../ui/messages.js';
import { Empty } from '../ui/page.js';
import { usePageSearch } from '../ui/search-values.js';
import { Ledger } from './ledger.js';
import { ScheduleCard } from './schedule-card.js';

export default function SchedulesPage() {
  const ref = useDeploymentRef();
  return (
    <Await query={useSchedules(ref)} what="the schedules">
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
  const [search, show] = usePageSearch('/worlds/$world/deployments/$deployment/schedules');
  const { event = schedules[0]?.event ?? '', status, page = 1 } = search;
  return (
    <>
      <ul className="mb-6 grid gap-3 xl:grid-cols-2">
        {schedules.map((schedule) => (
          <li key={schedule.event}>
            <ScheduleCard schedule={schedule} isChosen={schedule.event === event} />
          </li>
        ))}
      </ul>
      <Ledger event={event} status={status} page={page} onChange={(change) => void show(change)} />
    </>
  );
}
