import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { DEPLOYMENTS, deploymentPagesKey } from '../api/deployments.js';
import type { Deployment, Event, NewDeployment } from '../api/records.js';
import { useRequestKey } from '../api/request-key.js';
import { useChange } from '../api/use-change.js';
import { ButtonLink } from '../ui/button.js';
import { LeaveGuard } from '../ui/dialog.js';
import { CheckField, NumberField } from '../ui/field.js';
import { problemAt, problemsOf } from '../ui/messages.js';
import { Card } from '../ui/page.js';
import { SaveForm, useDraft } from '../ui/save-form.js';
import { readNumber } from '../ui/typed-text.js';
import { draftOfSettings, EMPTY_SETTINGS, settingsOf } from './settings-draft.js';
import { ModelAndPaymentFields, NameFields, SETTINGS_LABELS } from './settings-fields.js';

export interface NewDeploymentFormProps {
  world: string;
  /** What can be bound; a clone has the bindings of its source. */
  events: readonly Event[];
  source?: Deployment;
  /** The entry of the source that is offered to fork at. */
  seq?: number | undefined;
}

const LABELS = { ...SETTINGS_LABELS, '/sourceSeq': 'After entry', '/bindings': 'Events that it runs' };

export function NewDeploymentForm({ world, events, source, seq }: NewDeploymentFormProps) {
  const create = useCreation(world);
  const { draft, field } = useDraft(startOf(source, seq), LABELS, create.error);
  const [versions, setVersions] = useState(() => latestVersions(events));
  const [isLocked, setLocked] = useState(false);
  const [at, setAt] = useState(seq === undefined ? '' : String(seq));
  const entered = JSON.stringify([draft, [...versions].sort(), isLocked, at]);
  const [begun] = useState(entered);
  const submit = () => {
    const sourceSeq = readNumber(at);
    create.mutate({
      ...settingsOf(draft),
      mode: isLocked ? 'locked' : 'upgradable',
      bindings: [...versions].map(([name, eventVersion]) => ({ event: name, eventVersion })),
      ...(source && { sourceDeployment: source.address }),
      ...(source && sourceSeq !== undefined && { sourceSeq }),
    });
  };
  return (
    <Card>
      <LeaveGuard isChanged={entered !== begun} />
      <SaveForm
        verb={source ? 'Clone' : 'Create the deployment'}
        save={create}
        failed="The deployment was not created"
        labels={LABELS}
        isAtField={isAtField}
        onSubmit={submit}
        cancel={<Cancel world={world} source={source} />}
        className="grid grid-cols-1 gap-5"
      >
        {source && (
          <NumberField
            label={`Fork ${source.name} after entry`}
            isWhole
            hint="Its instances are copied as they were after this entry of its journal. Empty: as they are now."
            className="max-w-md"
            value={at}
            onChange={setAt}
            error={problemAt(create.error, '/sourceSeq')}
          />
        )}
        <NameFields field={field} />
        {!source && <EventChoice events={events} chosen={versions} onChange={setVersions} world={world} />}
        <details open={isRefusedInside(create.error)}>
          <summary className="mb-3 font-medium">Model, payments and privacy</summary>
          <ModelAndPaymentFields field={field} />
        </details>
        <CheckField
          label="Lock it at once"
          hint="What it runs is then fixed for ever."
          checked={isLocked}
          onChange={setLocked}
        />
      </SaveForm>
    </Card>
  );
}

const Cancel = ({ world, source }: { world: string; source: Deployment | undefined }) =>
  source === undefined ? (
    <ButtonLink to="/worlds/$world" params={{ world }}>
      Cancel
    </ButtonLink>
  ) : (
    <ButtonLink
      to="/worlds/$world/deployments/$deployment/settings"
      params={{ world, deployment: source.address }}
    >
      Cancel
    </ButtonLink>
  );

/** What was refused must be seen; undefined leaves it to the person whether the part is open. */
const isRefusedInside = (error: unknown): true | undefined =>
  problemsOf(error).some(({ pointer }) => pointer in SETTINGS_LABELS) || undefined;

/** The choice of events shows no mistakes. */
const isAtField = (pointer: string): boolean => pointer in LABELS && pointer !== '/bindings';

function startOf(source: Deployment | undefined, seq: number | undefined) {
  if (source === undefined) return EMPTY_SETTINGS;
  const name = seq === undefined ? `${source.name} (clone)` : `${source.name} (fork at ${seq})`;
  return { ...draftOfSettings(source), name };
}

const latestVersions = (events: readonly Event[]): ReadonlyMap<string, number> =>
  new Map(
    events.flatMap(({ name, latestVersion }) => (latestVersion === null ? [] : [[name, latestVersion]])),
  );

/** The same request sent again after a lost answer makes no second deployment. */
function useCreation(world: string) {
  const navigate = useNavigate();
  const { keyOf } = useRequestKey();
  return useChange(
    (orrery, body: NewDeployment) =>
      orrery.post(DEPLOYMENTS, {
        path: { worldAddress: world },
        body,
        idempotencyKey: keyOf(JSON.stringify(body)),
      }),
    [deploymentPagesKey(world)],
    ({ address }) =>
      navigate({
        to: '/worlds/$world/deployments/$deployment/live',
        params: { world, deployment: address },
        ignoreBlocker: true,
      }),
  );
}

interface EventChoiceProps extends Pick<NewDeploymentFormProps, 'world' | 'events'> {
  /** Event → version that is bound. */
  chosen: ReadonlyMap<string, number>;
  onChange: (chosen: ReadonlyMap<string, number>) => void;
}

function EventChoice({ world, events, chosen, onChange }: EventChoiceProps) {
  const toggle = ({ name, latestVersion }: Event, isChosen: boolean) => {
    const next = new Map(chosen);
    if (isChosen && latestVersion !== null) next.set(name, latestVersion);
    else next.delete(name);
    onChange(next);
  };
  return (
    <fieldset>
      <legend className="mb-1.5 font-medium">Events that it runs</legend>
      {events.length === 0 && (
        <p className="mb-2 text-muted">The world has no event yet. Events can be bound later, too.</p>
      )}
      <div className="grid gap-1.5 sm:grid-cols-2">
        {events.map((event) => (
          <CheckField
            key={event.name}
            label={
              event.latestVersion === null ? event.name : `${event.name}, version ${event.latestVersion}`
            }
            hint={event.latestVersion === null ? 'It has no version.' : event.description}
            checked={chosen.has(event.name)}
            disabled={event.latestVersion === null}
            onChange={(isChosen) => toggle(event, isChosen)}
          />
        ))}
      </div>
      {events.length === 0 && (
        <ButtonLink to="/worlds/$world" params={{ world }} size="small">
          Events of the world
        </ButtonLink>
      )}
    </fieldset>
  );
}
