import { useNavigate, useParams, useRouterState } from '@tanstack/react-router';
import type { Event } from '../api/records.js';
import { useChange, useRemoval } from '../api/use-change.js';
import {
  EVENT,
  type EventRef,
  eventPath,
  eventsKey,
  isOwn,
  useEvent,
  useVersions,
  useWorld,
} from '../api/worlds.js';
import { ButtonLink } from '../ui/button.js';
import { Confirm } from '../ui/dialog.js';
import { Await, Said } from '../ui/messages.js';
import { Empty, Page } from '../ui/page.js';
import { NameButton, type NameValues } from '../ui/save-form.js';
import { Badge } from '../ui/values.js';
import { EventDeployments } from './event-deployments.js';
import { VersionTable } from './version-table.js';
import { versionPart } from './version-words.js';
import { Versions } from './versions.js';

export default function EventPage() {
  const ref = useParams({ from: '/worlds/$world/events/$event' });
  const versions = useVersions(ref);
  const said = useRouterState({ select: ({ location }) => location.state.said });
  const canEdit = isOwn(useWorld(ref.world).data);
  return (
    <Await query={useEvent(ref)} what="the event">
      {(record) => (
        <Page
          title={record.name}
          lead={record.description}
          beside={<Badge>event</Badge>}
          actions={canEdit && <EventActions record={record} {...ref} />}
        >
          <Said message={said} nameOf={versionPart} />
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

const NoVersions = ({ canEdit, ...ref }: EventRef & { canEdit: boolean }) => (
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

function EventActions({ record, ...ref }: EventRef & { record: Event }) {
  const { name, description, latestVersion } = record;
  const path = eventPath(ref);
  const keys = [eventsKey(ref.world)];
  const navigate = useNavigate();
  const save = useChange((orrery, body: NameValues) => orrery.put(EVENT, { path, body }), keys);
  const remove = useRemoval(
    (orrery) => orrery.delete(EVENT, { path }),
    () => navigate({ to: '/worlds/$world', params: ref }),
    keys,
  );
  return (
    <>
      <ButtonLink
        look="primary"
        to="/worlds/$world/events/$event/edit"
        params={ref}
        search={latestVersion === null ? {} : { from: latestVersion }}
      >
        New version
      </ButtonLink>
      <NameButton
        title="Edit the event"
        values={{ name, description }}
        hint="An event that a deployment binds keeps its name."
        save={save}
        show={(event) =>
          navigate({
            to: '/worlds/$world/events/$event',
            params: { world: ref.world, event },
            ignoreBlocker: true,
          })
        }
      />
      <Confirm verb="Delete" title={`Delete ${name}?`} onConfirm={remove}>
        Its versions go with it. An event that a deployment binds, or that has a locked version, is not
        deleted.
      </Confirm>
    </>
  );
}
