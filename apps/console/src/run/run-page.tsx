import type { JsonObject } from '@orrery/sdk';
import { useNavigate, useRouterState, useSearch } from '@tanstack/react-router';
import { useRef } from 'react';
import { useBindings, useDeploymentRef } from '../api/deployments.js';
import { useGet } from '../api/read.js';
import type { EventBinding } from '../api/records.js';
import { eventPath, VERSION } from '../api/worlds.js';
import { VersionSelect } from '../deployments/version-select.js';
import { ButtonLink } from '../ui/button.js';
import { SelectField } from '../ui/field.js';
import { Await } from '../ui/messages.js';
import { Empty } from '../ui/page.js';
import { EventRunner, type EventRunnerProps } from './event-runner.js';

export default function RunPage() {
  const ref = useDeploymentRef();
  return (
    <Await query={useBindings(ref)} what="the events of the deployment">
      {(bindings) =>
        bindings.length === 0 ? (
          <Empty
            title="This deployment runs no event yet."
            action={
              <ButtonLink look="primary" to="/worlds/$world/deployments/$deployment/settings" params={ref}>
                Bind an event
              </ButtonLink>
            }
          >
            A deployment runs the events that are bound to it, each in one version.
          </Empty>
        ) : (
          <ChosenEvent bindings={bindings} />
        )
      }
    </Await>
  );
}

function ChosenEvent({ bindings }: { bindings: readonly EventBinding[] }) {
  const from = '/worlds/$world/deployments/$deployment/run';
  const { event, version, input: addressed } = useSearch({ from });
  // What is too long for an address comes with the step that led here.
  const carried = useRouterState({ select: ({ location }) => location.state.input });
  const input = addressed ?? carried;
  const navigate = useNavigate({ from });
  const chosen = bindings.find((binding) => binding.event === event) ?? bindings[0];
  // What was entered goes on in the form of another version.
  const entered = useRef<JsonObject>(undefined);
  if (chosen === undefined) return null;
  const shown = version ?? chosen.eventVersion;
  const show = (next: { event: string; version?: number }) =>
    void navigate({ search: next, replace: true, resetScroll: false });
  return (
    <>
      {event !== undefined && chosen.event !== event && (
        <p role="status" className="mb-3">
          The event {event} is not bound here.
        </p>
      )}
      <div className="mb-4 grid max-w-2xl gap-4 sm:grid-cols-2">
        <SelectField
          label="Event"
          value={chosen.event}
          onChange={(next) => {
            entered.current = undefined;
            show({ event: next });
          }}
          options={bindings.map((binding) => [
            binding.event,
            `${binding.event} (version ${binding.eventVersion})`,
          ])}
        />
        <VersionSelect
          event={chosen.event}
          value={shown}
          bound={chosen.eventVersion}
          words={(one) =>
            `version ${one}, ${one === chosen.eventVersion ? 'which is bound' : 'dry run only'}`
          }
          onChange={(next) =>
            show({ event: chosen.event, ...(next !== chosen.eventVersion && { version: next }) })
          }
        />
      </div>
      <ShownVersion
        key={`${chosen.event} ${shown} ${JSON.stringify(input)}`}
        binding={chosen}
        shown={shown}
        given={input}
        kept={entered.current}
        onInput={(value) => {
          entered.current = value;
        }}
      />
    </>
  );
}

type ShownVersionProps = Pick<EventRunnerProps, 'given' | 'kept' | 'onInput'> & {
  binding: EventBinding;
  shown: number;
};

function ShownVersion({ binding: { event, eventVersion }, shown, ...input }: ShownVersionProps) {
  const path = { ...eventPath({ world: useDeploymentRef().world, event }), version: shown };
  return (
    <Await query={useGet(VERSION, { path })} what="the event">
      {(version) => <EventRunner version={version} bound={eventVersion} {...input} />}
    </Await>
  );
}
