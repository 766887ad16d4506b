import type { JsonObject } from '@orrery/sdk';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useRef } from 'react';
import { bindingsQuery, type EventBinding } from '../api/bindings.js';
import { versionQuery } from '../api/versions.js';
import { useDeploymentRef } from '../deployments/use-deployment-ref.js';
import { useOrrery } from '../session/use-session.js';
import { Await } from '../ui/await.js';
import { ButtonLink } from '../ui/button.js';
import { Empty } from '../ui/empty.js';
import { SelectField } from '../ui/field.js';
import { VersionChoice } from './dry-run-choice.js';
import { EventRunner } from './event-runner.js';
import type { RunSearch } from './run-search.js';

/** Runs an event: its input, a dry run, the execution. */
export function RunPage() {
  const ref = useDeploymentRef();
  const query = useQuery(bindingsQuery(useOrrery(), ref));
  return (
    <Await query={query} what="the events of the deployment">
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
  const { event, version, input } = useSearch({ from });
  const navigate = useNavigate({ from });
  const chosen = bindings.find((binding) => binding.event === event) ?? bindings[0];
  // What was entered goes on in the form of another version.
  const entered = useRef<JsonObject>(undefined);
  if (chosen === undefined) return null;
  const shown = version ?? chosen.eventVersion;
  const show = (next: RunSearch) => void navigate({ search: next, replace: true, resetScroll: false });
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
        <VersionChoice
          binding={chosen}
          value={shown}
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

interface ShownVersionProps {
  binding: EventBinding;
  shown: number;
  given: JsonObject | undefined;
  kept: JsonObject | undefined;
  onInput: (input: JsonObject) => void;
}

function ShownVersion({ binding: { event, eventVersion }, shown, ...input }: ShownVersionProps) {
  const { world } = useDeploymentRef();
  const query = useQuery(versionQuery(useOrrery(), world, event, shown));
  return (
    <Await query={query} what="the event">
      {(version) => <EventRunner version={version} bound={eventVersion} {...input} />}
    </Await>
  );
}
