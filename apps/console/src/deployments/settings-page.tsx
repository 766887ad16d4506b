import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { useChange, useRemoval } from '../api/change.js';
import {
  DEPLOYMENT,
  DEPLOYMENTS,
  deploymentKey,
  deploymentPath,
  useDeployment,
  useDeploymentRef,
} from '../api/deployments.js';
import { useGuard } from '../api/guard.js';
import { keyOf } from '../api/read.js';
import type { Deployment } from '../api/records.js';
import { Button, ButtonLink } from '../ui/button.js';
import { Conflict, isConflict } from '../ui/conflict.js';
import { Confirm, LeaveGuard } from '../ui/dialog.js';
import { Await, ErrorNote, problemAt, Said } from '../ui/messages.js';
import { Card, Details, Section } from '../ui/page.js';
import { memberByLabel, useRefusal } from '../ui/refusal.js';
import { fieldOf, SaveForm } from '../ui/save-form.js';
import { CopyableCode, Time } from '../ui/values.js';
import { WebhooksSection } from '../webhooks/webhooks-section.js';
import { BindingsSection } from './bindings.js';
import {
  changedSettings,
  draftOfSettings,
  editsOf,
  ModelAndPaymentFields,
  NameFields,
  SETTINGS_LABELS,
  type SettingsDraft,
} from './settings-fields.js';

export default function SettingsPage() {
  return (
    <Await query={useDeployment(useDeploymentRef())} what="the deployment">
      {(deployment) => (
        <>
          <BindingsSection isLocked={deployment.mode === 'locked'} />
          <Section title="Settings">
            <SettingsForm deployment={deployment} />
          </Section>
          <WebhooksSection />
          <StateSection deployment={deployment} />
          <Section title="About">
            <About deployment={deployment} />
          </Section>
        </>
      )}
    </Await>
  );
}

function SettingsForm({ deployment }: { deployment: Deployment }) {
  const ref = useDeploymentRef();
  // What others change meanwhile is seen, and stays.
  const [edited, setEdited] = useState<Partial<SettingsDraft>>({});
  const stored = draftOfSettings(deployment);
  const draft = { ...stored, ...edited };
  const body = changedSettings(deployment, draft);
  const isChanged = Object.keys(body).length > 0;
  const path = deploymentPath(ref);
  const guard = useGuard(DEPLOYMENT, path);
  const save = useChange(
    (orrery) => orrery.answer('put', DEPLOYMENT, { path, headers: guard.headers(), body }),
    [keyOf(DEPLOYMENTS, path)],
    () => setEdited({}),
  );
  const change = (part: Partial<SettingsDraft>) => {
    // What others have changed before is seen in the form.
    if (!isChanged) guard.renew();
    setEdited(editsOf(stored, { ...draft, ...part }));
  };
  const overwrite = () => {
    guard.renew();
    save.mutate();
  };
  const conflict = isConflict(save.error) && (
    <Conflict theirs={stored} mine={draft} onOverwrite={overwrite} />
  );
  const refusal = useRefusal(save.error, draft, memberByLabel(SETTINGS_LABELS));
  const field = fieldOf(draft, change, SETTINGS_LABELS, (pointer) => problemAt(refusal, pointer));
  return (
    <Card>
      <LeaveGuard isChanged={isChanged} />
      <SaveForm
        verb="Save"
        save={save}
        refusal={refusal}
        failed="The settings were not saved"
        labels={SETTINGS_LABELS}
        onSubmit={() => isChanged && save.mutate()}
        said={<Said said={save.data} />}
        conflict={conflict}
        cancel={isChanged && <Button onClick={() => setEdited({})}>Undo</Button>}
        disabled={!isChanged}
      >
        <div className="grid grid-cols-1 gap-4">
          <NameFields field={field} />
          <ModelAndPaymentFields field={field} isModelFixed={deployment.mode === 'locked'} />
        </div>
      </SaveForm>
    </Card>
  );
}

const About = ({ deployment }: { deployment: Deployment }) => {
  const { address, createdAt, updatedAt, source, definitionHash, lockedAt } = deployment;
  return (
    <Card>
      <Details
        items={{
          Address: <CopyableCode text={address} what="address of the deployment" />,
          Created: <Time at={createdAt} />,
          Changed: <Time at={updatedAt} />,
          ...(source && {
            'Cloned from': <CopyableCode text={source.address} what="address of its source" />,
            'After its entry': source.seq,
          }),
          ...(definitionHash && {
            Locked: <Time at={lockedAt} />,
            'Hash of what it runs': <CopyableCode text={definitionHash} what="definition hash" />,
          }),
        }}
      />
    </Card>
  );
};

interface LineProps {
  title: string;
  words: string;
  children?: ReactNode;
}

const Line = ({ title, words, children }: LineProps) => (
  <div className="flex flex-wrap items-center gap-x-4 gap-y-2 py-3">
    <div className="min-w-60 grow basis-80">
      <h3 className="font-medium">{title}</h3>
      <p className="text-sm text-muted">{words}</p>
    </div>
    {children}
  </div>
);

export function StateSection({
  deployment: { name, address, isPaused, isPublic, mode },
}: {
  deployment: Deployment;
}) {
  const ref = useDeploymentRef();
  const act = useChange(
    (orrery, verb: 'publish' | 'unpublish' | 'pause' | 'resume' | 'lock') =>
      orrery.answer('post', `${DEPLOYMENT}/${verb}`, { path: deploymentPath(ref) }),
    [keyOf(DEPLOYMENTS, deploymentPath(ref))],
  );
  // The browser has looked for it before it was there.
  useEffect(() => {
    if (location.hash === '#state') document.getElementById('state')?.scrollIntoView();
  }, []);
  const turn = isPaused ? 'resume' : 'pause';
  const publishing = isPublic ? PUBLISHED : PRIVATE;
  return (
    <Section title="State" id="state">
      <Said said={act.data} />
      <ErrorNote error={act.error} title={act.variables && `Could not ${act.variables}`} />
      <Card className="divide-y divide-line py-1">
        <Line {...(isPaused ? PAUSED : RUNNING)}>
          <Button pending={act.isPending && act.variables === turn} onClick={() => act.mutate(turn)}>
            {isPaused ? 'Resume' : 'Pause'}
          </Button>
        </Line>
        <Line title={publishing.title} words={publishing.words}>
          <Confirm
            verb={isPublic ? 'Unpublish' : 'Publish'}
            look="secondary"
            title={`${isPublic ? 'Unpublish' : 'Publish'} the deployment?`}
            onConfirm={() => act.mutateAsync(isPublic ? 'unpublish' : 'publish')}
          >
            {publishing.otherwise}
          </Confirm>
        </Line>
        {isPublic && (
          <Line title="Address to hand out" words="Whoever opens it needs no key.">
            <CopyableCode text={publicAddress(address)} what="address to hand out" />
          </Line>
        )}
        {mode === 'locked' ? (
          <Line
            title="Locked"
            words="What it runs is fixed for ever: bindings, versions, schemas and model."
          />
        ) : (
          <Line
            title="Upgradable"
            words="Bindings, model and instances may change. A lock fixes what it runs, for ever."
          >
            <Confirm
              verb="Lock"
              title="Lock the deployment for ever?"
              typed={name}
              onConfirm={() => act.mutateAsync('lock')}
            >
              What it runs can never be changed any more: its bindings, their versions, the schemas, the
              model. Instances change by executions alone. This cannot be undone.
            </Confirm>
          </Line>
        )}
        <Line
          title="Clone"
          words="A new deployment with the instances and bindings of this one, as they are now or as they were after an entry."
        >
          <ButtonLink
            to="/worlds/$world/deploy"
            params={{ world: ref.world }}
            search={{ source: ref.deployment }}
          >
            Clone
          </ButtonLink>
        </Line>
        {mode === 'locked' ? (
          <Line title="Delete" words="A locked deployment stays: it cannot be deleted." />
        ) : (
          <Line title="Delete" words="Its instances and its history are gone with it.">
            <Deletion name={name} />
          </Line>
        )}
      </Card>
    </Section>
  );
}

/** The page for players of a published deployment. */
const publicAddress = (address: string): string => `${location.origin}/play/${address}`;

const PAUSED = { title: 'Paused', words: 'Executions are refused, and no schedule is due.' };
const RUNNING = {
  title: 'Running',
  words: 'Pausing refuses executions and stops schedules until you resume.',
};
const PUBLISHED = {
  title: 'Published',
  words: 'Others read its instances and history, and wallets execute its public events.',
  otherwise:
    'Others can no longer read it, and wallets can no longer execute its events. You can publish it again.',
};
const PRIVATE = {
  title: 'Private',
  words: 'Only you see it. Published, others read it and wallets execute its public events.',
  otherwise:
    'Everyone who has its address can read its instances and its history, and wallets can execute its public events.',
};

function Deletion({ name }: { name: string }) {
  const ref = useDeploymentRef();
  const path = deploymentPath(ref);
  const cache = useQueryClient();
  const navigate = useNavigate();
  const leave = async () => {
    await navigate({ to: '/worlds/$world', params: ref, ignoreBlocker: true });
    cache.removeQueries({ queryKey: deploymentKey(ref) });
  };
  const remove = useRemoval((orrery) => orrery.delete(DEPLOYMENT, { path }), leave, [
    keyOf(DEPLOYMENTS, path),
  ]);
  return (
    <Confirm verb="Delete" title={`Delete ${name}?`} typed={name} onConfirm={remove}>
      The deployment, its instances and its history are deleted. This cannot be undone.
    </Confirm>
  );
}
