import { useNavigate } from '@tanstack/react-router';
import type { Event } from '../api/records.js';
import { useChange, useRemoval } from '../api/use-change.js';
import { worldKey } from '../api/worlds.js';
import { ButtonLink } from '../ui/button.js';
import { Confirm } from '../ui/confirm.js';
import type { NameValues } from '../ui/name-form.js';
import { EditNames } from '../ui/name-form.js';

export interface EventRef {
  readonly world: string;
  readonly event: string;
}

/** What its owner can do with an event: a new version, another name, deletion. */
export function EventActions({ record, ...ref }: EventRef & { record: Event }) {
  const { name, description, latestVersion } = record;
  const navigate = useNavigate();
  const remove = useRemoval(
    (orrery) =>
      orrery.delete('/api/worlds/{worldAddress}/events/{eventName}', {
        path: { worldAddress: ref.world, eventName: ref.event },
      }),
    () => navigate({ to: '/worlds/$world', params: ref }),
    [[...worldKey(ref.world), 'events']],
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
      <EditEvent values={{ name, description }} {...ref} />
      <Confirm verb="Delete" title={`Delete ${name}?`} onConfirm={remove}>
        Its versions go with it. An event that a deployment binds, or that has a locked version, is not
        deleted.
      </Confirm>
    </>
  );
}

function EditEvent({ values, ...ref }: EventRef & { values: NameValues }) {
  const navigate = useNavigate();
  const save = useChange(
    (orrery, body: NameValues) =>
      orrery.put('/api/worlds/{worldAddress}/events/{eventName}', {
        path: { worldAddress: ref.world, eventName: ref.event },
        body,
      }),
    [[...worldKey(ref.world), 'events']],
  );
  return (
    <EditNames
      title="Edit the event"
      values={values}
      hint="An event that a deployment binds keeps its name."
      save={save}
      show={(name) =>
        navigate({
          to: '/worlds/$world/events/$event',
          params: { world: ref.world, event: name },
          ignoreBlocker: true,
        })
      }
    />
  );
}
