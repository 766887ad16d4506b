import type { components } from '@orrery/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { deploymentPagesKey } from '../api/deployments.js';
import type { Deployment, Event } from '../api/records.js';
import { useRequestKey } from '../api/request-key.js';
import { useOrrery } from '../session/use-session.js';
import { Button, ButtonLink } from '../ui/button.js';
import { Actions } from '../ui/dialog.js';
import { ErrorNote, problemAt, problemsOf } from '../ui/error-note.js';
import { CheckField, NumberField } from '../ui/field.js';
import { fieldsOf } from '../ui/field-labels.js';
import { Form } from '../ui/form.js';
import { LeaveGuard } from '../ui/leave-guard.js';
import { Card } from '../ui/page.js';
import { readNumber } from '../ui/typed-text.js';
import { EventChoice } from './event-choice.js';
import { draftOfSettings, EMPTY_SETTINGS, settingsOf } from './settings-draft.js';
import { ModelAndPaymentFields, NameFields, SETTINGS_LABELS } from './settings-fields.js';

export interface NewDeploymentFormProps {
  world: string;
  /** What can be bound; a clone has the bindings of its source. */
  events: readonly Event[];
  source?: Deployment | undefined;
  /** The entry of the source that is offered to fork at. */
  seq?: number | undefined;
}

export function NewDeploymentForm({ world, events, source, seq }: NewDeploymentFormProps) {
  const [settings, setSettings] = useState(() => startOf(source, seq));
  const [versions, setVersions] = useState(() => latestVersions(events));
  const [isLocked, setLocked] = useState(false);
  const [at, setAt] = useState(seq === undefined ? '' : String(seq));
  const create = useCreation(world);
  const entered = JSON.stringify([settings, [...versions].sort(), isLocked, at]);
  const [begun] = useState(entered);
  const fields = { draft: settings, onChange: setSettings, error: create.error };
  const submit = () => {
    const sourceSeq = readNumber(at);
    create.mutate({
      ...settingsOf(settings),
      mode: isLocked ? 'locked' : 'upgradable',
      bindings: [...versions].map(([name, eventVersion]) => ({ event: name, eventVersion })),
      ...(source && { sourceDeployment: source.address }),
      ...(source && sourceSeq !== undefined && { sourceSeq }),
    });
  };
  return (
    <Card>
      <LeaveGuard isChanged={entered !== begun} />
      <Form onSubmit={submit} className="grid grid-cols-1 gap-5">
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
        <NameFields {...fields} />
        {!source && <EventChoice events={events} chosen={versions} onChange={setVersions} world={world} />}
        <details open={isRefusedInside(create.error)}>
          <summary className="mb-3 font-medium">Model, payments and privacy</summary>
          <ModelAndPaymentFields {...fields} />
        </details>
        <CheckField
          label="Lock it at once"
          hint="What it runs is then fixed for ever."
          checked={isLocked}
          onChange={setLocked}
        />
        <ErrorNote
          error={create.error}
          title="The deployment was not created"
          nameOf={nameOf}
          shownElsewhere={isAtField}
        />
        <Actions>
          <Cancel world={world} source={source} />
          <Button type="submit" look="primary" pending={create.isPending}>
            {source ? 'Clone' : 'Create the deployment'}
          </Button>
        </Actions>
      </Form>
    </Card>
  );
}

/** Back to where one came from. */
const Cancel = ({ world, source }: Pick<NewDeploymentFormProps, 'world' | 'source'>) =>
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

const LABELS = { ...SETTINGS_LABELS, '/sourceSeq': 'After entry', '/bindings': 'Events that it runs' };
const { nameOf } = fieldsOf(LABELS);
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

function useCreation(world: string) {
  const orrery = useOrrery();
  const cache = useQueryClient();
  const navigate = useNavigate();
  // The same request sent again after a lost answer makes no second deployment.
  const { keyOf } = useRequestKey();
  return useMutation({
    mutationFn: (body: components['schemas']['NewDeployment']) =>
      orrery.post('/api/worlds/{worldAddress}/deployments', {
        path: { worldAddress: world },
        body,
        idempotencyKey: keyOf(JSON.stringify(body)),
      }),
    onSuccess: async ({ address }) => {
      await cache.invalidateQueries({ queryKey: deploymentPagesKey(world) });
      await navigate({
        to: '/worlds/$world/deployments/$deployment/live',
        params: { world, deployment: address },
        ignoreBlocker: true,
      });
    },
  });
}
