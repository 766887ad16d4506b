import { useQuery } from '@tanstack/react-query';
import { useParams, useRouterState } from '@tanstack/react-router';
import { eventQuery, versionsQuery } from '../api/events.js';
import { isOwn, worldQuery } from '../api/worlds.js';
import { useOrrery } from '../session/use-session.js';
import { Await } from '../ui/await.js';
import { Badge } from '../ui/badge.js';
import { ButtonLink } from '../ui/button.js';
import { Empty } from '../ui/empty.js';
import { Page } from '../ui/page.js';
import { Said } from '../ui/said.js';
import { EventActions } from './event-actions.js';
import { EventDeployments } from './event-deployments.js';
import { versionPlace } from './version-labels.js';
import { VersionTable } from './version-table.js';
import { Versions } from './versions.js';

export function EventPage() {
  const ref = useParams({ from: '/worlds/$world/events/$event' });
  const orrery = useOrrery();
  const event = useQuery(eventQuery(orrery, ref.world, ref.event));
  const versions = useQuery(versionsQuery(orrery, ref.world, ref.event));
  const { data: world } = useQuery(worldQuery(orrery, ref.world));
  const said = useRouterState({ select: ({ location }) => location.state.said });
  const canEdit = world !== undefined && isOwn(world);
  return (
    <Await query={event} what="the event">
      {(record) => (
        <Page
          title={record.name}
          lead={record.description}
          beside={<Badge>event</Badge>}
          actions={canEdit && <EventActions record={record} {...ref} />}
        >
          <Said message={said} nameOf={versionPlace} />
          <Await query={versions} what="the versions">
            {({ data }) =>
              data.length === 0 ? (
                <NoVersions canEdit={canEdit} {...ref} />
              ) : (
                <>
                  <VersionTable versions={data} canEdit={canEdit} {...ref} />
                  {canEdit && <EventDeployments {...ref} />}
                  <Versions versions={data} />
                </>
              )
            }
          </Await>
        </Page>
      )}
    </Await>
  );
}

const NoVersions = ({ canEdit, ...ref }: { canEdit: boolean; world: string; event: string }) => (
  <Empty
    title="It has no version any more."
    action={
      canEdit && (
        <ButtonLink look="primary" to="/worlds/$world/events/$event/edit" params={ref}>
          New version
        </ButtonLink>
      )
    }
  >
    A version says what the event reads, what it may change and what decides.
  </Empty>
);
