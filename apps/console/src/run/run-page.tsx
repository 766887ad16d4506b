import type { JsonObject } from '@orrery/sdk';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useRef } from 'react';
import { useBindings, useDeploymentRef } from '../api/deployments.js';
import type { EventBinding } from '../api/records.js';
import { useVersion, useVersions } from '../api/worlds.js';
import { ButtonLink } from '../ui/button.js';
import { SelectField } from '../ui/field.js';
import { Await, ErrorNote } from '../ui/messages.js';
import { Empty } from '../ui/page.js';
import { EventRunner } from './event-runner.js';

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
  const { event, version, input } = useSearch({ from });
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
  return (
    <Await query={useVersion({ world, event }, shown)} what="the event">
      {(version) => <EventRunner version={version} bound={eventVersion} {...input} />}
    </Await>
  );
}

interface VersionChoiceProps {
  binding: EventBinding;
  /** The version whose form is shown. */
  value: number;
  onChange: (version: number) => void;
}

/** The version that is run: the bound one, or for dry runs any other. */
function VersionChoice({ binding: { event, eventVersion }, value, onChange }: VersionChoiceProps) {
  const { data, error } = useVersions({ world: useDeploymentRef().world, event });
  const numbers = new Set([eventVersion, value, ...(data?.data ?? []).map(({ version }) => version)]);
  const words = (version: number) =>
    version === eventVersion ? `version ${version}, which is bound` : `version ${version}, dry run only`;
  return (
    <div>
      <SelectField
        label="Version"
        value={String(value)}
        onChange={(next) => onChange(Number(next))}
        options={[...numbers].sort((a, b) => b - a).map((version) => [String(version), words(version)])}
      />
      <ErrorNote error={error} title="The versions could not be read" />
    </div>
  );
}
