import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useChange } from '../api/change.js';
import { DEPLOYMENTS, useDeployment } from '../api/deployments.js';
import { listKeyOf } from '../api/read.js';
import type { Deployment, Event, NewDeployment } from '../api/records.js';
import { useEvents } from '../api/worlds.js';
import { ButtonLink } from '../ui/button.js';
import { LeaveGuard } from '../ui/dialog.js';
import { CheckField, CheckList, NumberField } from '../ui/field.js';
import { Await, problemsOf } from '../ui/messages.js';
import { Card, Page } from '../ui/page.js';
import { SaveForm, useDraft } from '../ui/save-form.js';
import { readNumber } from '../ui/typed-text.js';
import {
  draftOfSettings,
  EMPTY_SETTINGS,
  ModelAndPaymentFields,
  NameFields,
  SETTINGS_LABELS,
  settingsOf,
} from './settings-fields.js';

export default function NewDeploymentPage() {
  const { world } = useParams({ from: '/worlds/$world/deploy' });
  const { source, seq } = useSearch({ from: '/worlds/$world/deploy' });
  return source === undefined ? <Empty world={world} /> : <Clone world={world} source={source} seq={seq} />;
}

const Empty = ({ world }: { world: string }) => (
  <Page
    title="New deployment"
    lead="A deployment runs the world: it holds instances, executes events and keeps their history."
  >
    <Await query={useEvents(world)} what="the events of the world">
      {({ data }) => <DeploymentForm world={world} events={data} />}
    </Await>
  </Page>
);

const Clone = ({ world, source, seq }: { world: string; source: string; seq: number | undefined }) => (
  <Page
    title="Clone a deployment"
    lead="The clone has the instances and bindings of its source, and a history of its own. The source stays as it is."
  >
    <Await query={useDeployment({ world, deployment: source })} what="the source">
      {(deployment) => <DeploymentForm world={world} events={[]} source={deployment} seq={seq} />}
    </Await>
  </Page>
);

interface DeploymentFormProps {
  world: string;
  /** What can be bound; a clone has the bindings of its source. */
  events: readonly Event[];
  source?: Deployment;
  /** The entry of the source that is offered to fork at. */
  seq?: number | undefined;
}

const LABELS = { ...SETTINGS_LABELS, '/sourceSeq': 'After entry', '/bindings': 'Events that it runs' };

function DeploymentForm({ world, events, source, seq }: DeploymentFormProps) {
  const create = useCreation(world);
  const [initial] = useState(() => ({
    ...(source === undefined ? EMPTY_SETTINGS : cloneOf(source, seq)),
    sourceSeq: seq === undefined ? '' : String(seq),
    chosen: events.filter(isBindable).map(({ name }) => name) as readonly string[],
    isLocked: false,
  }));
  const { draft, change, field, refusal } = useDraft(initial, LABELS, create.error);
  const { chosen, isLocked } = draft;
  const submit = () => {
    const sourceSeq = readNumber(draft.sourceSeq);
    create.mutate({
      ...settingsOf(draft),
      mode: isLocked ? 'locked' : 'upgradable',
      bindings: events
        .filter(isBindable)
        .filter(({ name }) => chosen.includes(name))
        .map(({ name, latestVersion }) => ({ event: name, eventVersion: latestVersion })),
      ...(source && { sourceDeployment: source.address }),
      ...(source && sourceSeq !== undefined && { sourceSeq }),
    });
  };
  return (
    <Card>
      <LeaveGuard isChanged={JSON.stringify(draft) !== JSON.stringify(initial)} />
      <SaveForm
        verb={source ? 'Clone' : 'Create the deployment'}
        save={create}
        refusal={refusal}
        failed="The deployment was not created"
        labels={LABELS}
        isAtField={isAtField}
        onSubmit={submit}
        cancel={<Cancel world={world} source={source} />}
        className="grid grid-cols-1 gap-5"
      >
        {source && (
          <NumberField
            {...field('sourceSeq')}
            label={`Fork ${source.name} after entry`}
            isWhole
            hint="Its instances are copied as they were after this entry of its journal. Empty: as they are now."
            className="max-w-md"
          />
        )}
        <NameFields field={field} />
        {!source && (
          <CheckList
            legend="Events that it runs"
            className="grid gap-1.5 sm:grid-cols-2"
            options={events.map(optionOf)}
            chosen={chosen}
            onChange={(next) => change({ chosen: next })}
          >
            {events.length === 0 && <NoEvents world={world} />}
          </CheckList>
        )}
        <details open={isRefusedInside(refusal)}>
          <summary className="mb-3 font-medium">Model, payments and privacy</summary>
          <ModelAndPaymentFields field={field} />
        </details>
        <CheckField
          label="Lock it at once"
          hint="What it runs is then fixed for ever."
          checked={isLocked}
          onChange={(next) => change({ isLocked: next })}
        />
      </SaveForm>
    </Card>
  );
}

const Cancel = ({
  world,
  source,
}: Pick<DeploymentFormProps, 'world'> & { source: Deployment | undefined }) =>
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

const cloneOf = (source: Deployment, seq: number | undefined) => ({
  ...draftOfSettings(source),
  name: seq === undefined ? `${source.name} (clone)` : `${source.name} (fork at ${seq})`,
});

const isBindable = (event: Event): event is Event & { latestVersion: number } => event.latestVersion !== null;

const optionOf = (event: Event) =>
  isBindable(event)
    ? { value: event.name, label: `${event.name}, version ${event.latestVersion}`, hint: event.description }
    : { value: event.name, hint: 'It has no version.', disabled: true };

const NoEvents = ({ world }: { world: string }) => (
  <>
    <p className="mb-2 text-muted">The world has no event yet. Events can be bound later, too.</p>
    <ButtonLink to="/worlds/$world" params={{ world }} size="small">
      Events of the world
    </ButtonLink>
  </>
);

function useCreation(world: string) {
  const navigate = useNavigate();
  const path = { worldAddress: world };
  return useChange(
    (orrery, body: NewDeployment, once) => orrery.answer('post', DEPLOYMENTS, once({ path, body })),
    [listKeyOf(DEPLOYMENTS, path)],
    ({ data: { address }, message, warnings }) =>
      navigate({
        to: '/worlds/$world/deployments/$deployment/live',
        params: { world, deployment: address },
        state: { said: { message, warnings } },
        ignoreBlocker: true,
      }),
  );
}
