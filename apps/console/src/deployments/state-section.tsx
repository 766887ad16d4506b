import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import {
  DEPLOYMENT,
  deploymentKey,
  deploymentPath,
  deploymentsKey,
  useDeploymentRef,
} from '../api/deployments.js';
import type { Deployment } from '../api/records.js';
import { useChange, useRemoval } from '../api/use-change.js';
import { Button, ButtonLink } from '../ui/button.js';
import { Confirm } from '../ui/dialog.js';
import { ErrorNote, Said } from '../ui/messages.js';
import { Card, Section } from '../ui/page.js';

type Verb = 'publish' | 'unpublish' | 'pause' | 'resume' | 'lock';

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

export function StateSection({ deployment: { name, isPaused, isPublic, mode } }: { deployment: Deployment }) {
  const ref = useDeploymentRef();
  const act = useChange(
    (orrery, verb: Verb) => orrery.answer('post', `${DEPLOYMENT}/${verb}`, { path: deploymentPath(ref) }),
    [deploymentsKey(ref.world)],
  );
  const ask = (verb: Verb) => () => act.mutateAsync(verb);
  const isLocked = mode === 'locked';
  return (
    <Section title="State">
      <Said message={act.data?.message} />
      <ErrorNote error={act.error} title={act.variables && `Could not ${act.variables}`} />
      <Card className="divide-y divide-line py-1">
        <Line {...PAUSING[isPaused ? 'on' : 'off']}>
          <Button
            pending={act.isPending && (act.variables === 'pause' || act.variables === 'resume')}
            onClick={() => act.mutate(isPaused ? 'resume' : 'pause')}
          >
            {isPaused ? 'Resume' : 'Pause'}
          </Button>
        </Line>
        <Line {...PUBLISHING[isPublic ? 'on' : 'off']}>
          {isPublic ? (
            <Confirm
              verb="Unpublish"
              look="secondary"
              title="Unpublish the deployment?"
              onConfirm={ask('unpublish')}
            >
              Others can no longer read it, and wallets can no longer execute its events. You can publish it
              again.
            </Confirm>
          ) : (
            <Confirm
              verb="Publish"
              look="secondary"
              title="Publish the deployment?"
              onConfirm={ask('publish')}
            >
              Everyone who has its address can read its instances and its history, and wallets can execute its
              public events.
            </Confirm>
          )}
        </Line>
        <Line {...LOCKING[isLocked ? 'on' : 'off']}>
          {!isLocked && (
            <Confirm verb="Lock" title="Lock the deployment for ever?" onConfirm={ask('lock')}>
              What it runs can never be changed any more: its bindings, their versions, the schemas, the
              model. Instances change by executions alone. This cannot be undone.
            </Confirm>
          )}
        </Line>
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
        <Line {...DELETION[isLocked ? 'on' : 'off']}>{!isLocked && <Deletion name={name} />}</Line>
      </Card>
    </Section>
  );
}

/** What is said of a state where it holds, and where it does not. */
type Words = Record<'on' | 'off', LineProps>;

const PAUSING: Words = {
  on: { title: 'Paused', words: 'Executions are refused, and no schedule is due.' },
  off: { title: 'Running', words: 'Pausing refuses executions and stops schedules until you resume.' },
};
const PUBLISHING: Words = {
  on: {
    title: 'Published',
    words: 'Others read its instances and history, and wallets execute its public events.',
  },
  off: {
    title: 'Private',
    words: 'Only you see it. Published, others read it and wallets execute its public events.',
  },
};
const LOCKING: Words = {
  on: {
    title: 'Locked',
    words: 'What it runs is fixed for ever: bindings, versions, schemas and model.',
  },
  off: {
    title: 'Upgradable',
    words: 'Bindings, model and instances may change. A lock fixes what it runs, for ever.',
  },
};
const DELETION: Words = {
  on: { title: 'Delete', words: 'A locked deployment stays: it cannot be deleted.' },
  off: { title: 'Delete', words: 'Its instances and its history are gone with it.' },
};

function Deletion({ name }: { name: string }) {
  const ref = useDeploymentRef();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const remove = useRemoval((orrery) =>
    orrery.delete(DEPLOYMENT, { path: deploymentPath(ref) }), async () => {
    await navigate({ to: '/worlds/$world', params: { world: ref.world }, ignoreBlocker: true });
    cache.removeQueries({ queryKey: deploymentKey(ref) });
  }, [deploymentsKey(ref.world)]);
  return (
    <Confirm verb="Delete" title={`Delete ${name}?`} onConfirm={remove}>
      The deployment, its instances and its history are deleted. This cannot be undone.
    </Confirm>
  );
}
