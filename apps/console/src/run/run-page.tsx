import type { JsonObject } from '@orrery/sdk';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { bindingsQuery, type EventBinding } from '../api/bindings.js';
import { versionQuery } from '../api/versions.js';
import { useDeploymentRef } from '../deployments/use-deployment-ref.js';
import { useOrrery } from '../session/use-session.js';
import { Await } from '../ui/await.js';
import { ButtonLink } from '../ui/button.js';
import { Empty } from '../ui/empty.js';
import { SelectField } from '../ui/field.js';
import { EventRunner } from './event-runner.js';

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
  const { event, input } = useSearch({ from });
  const navigate = useNavigate({ from });
  const chosen = bindings.find((binding) => binding.event === event) ?? bindings[0];
  if (chosen === undefined) return null;
  return (
    <>
      {event !== undefined && chosen.event !== event && (
        <p role="status" className="mb-3">
          The event {event} is not bound here.
        </p>
      )}
      <SelectField
        label="Event"
        className="mb-4 max-w-md"
        value={chosen.event}
        onChange={(next) => void navigate({ search: { event: next }, replace: true })}
        options={bindings.map((binding) => [
          binding.event,
          `${binding.event} (version ${binding.eventVersion})`,
        ])}
      />
      <BoundEvent
        key={`${chosen.event} ${chosen.eventVersion} ${JSON.stringify(input)}`}
        binding={chosen}
        input={input}
      />
    </>
  );
}

function BoundEvent({ binding, input }: { binding: EventBinding; input: JsonObject | undefined }) {
  const { world } = useDeploymentRef();
  const query = useQuery(versionQuery(useOrrery(), world, binding.event, binding.eventVersion));
  return (
    <Await query={query} what="the event">
      {(version) => <EventRunner version={version} given={input} />}
    </Await>
  );
}
