import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { deploymentPath } from '../api/deployment-path.js';
import { deploymentKey, deploymentsKey } from '../api/deployments.js';
import type { Deployment } from '../api/records.js';
import { useOrrery } from '../session/use-session.js';
import { Button, ButtonLink } from '../ui/button.js';
import { Confirm } from '../ui/confirm.js';
import { ErrorNote } from '../ui/error-note.js';
import { Card, Section } from '../ui/page.js';
import { Said } from '../ui/said.js';
import { useDeploymentRef } from './use-deployment-ref.js';

type Verb = 'publish' | 'unpublish' | 'pause' | 'resume' | 'lock';

/** Publish, pause, lock, clone and delete. */
export function StateSection({ deployment }: { deployment: Deployment }) {
  const { act, perform } = useVerbs();
  const ref = useDeploymentRef();
  return (
    <Section title="State">
      <Said message={act.data?.message} />
      <ErrorNote error={act.error} title={act.variables && `Could not ${act.variables}`} />
      <Card className="divide-y divide-line py-1">
        <Pausing isPaused={deployment.isPaused} act={act} />
        <Publishing isPublic={deployment.isPublic} perform={perform} />
        <Locking isLocked={deployment.mode === 'locked'} perform={perform} />
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
        <Deletion name={deployment.name} isLocked={deployment.mode === 'locked'} />
      </Card>
    </Section>
  );
}

interface LineProps {
  title: string;
  words: string;
  children: ReactNode;
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

function useVerbs() {
  const orrery = useOrrery();
  const ref = useDeploymentRef();
  const cache = useQueryClient();
  const act = useMutation({
    mutationFn: (verb: Verb) =>
      orrery.answer('post', `/api/worlds/{worldAddress}/deployments/{address}/${verb}`, {
        path: deploymentPath(ref),
      }),
    onSettled: () => cache.invalidateQueries({ queryKey: deploymentsKey(ref.world) }),
  });
  return { act, perform: (verb: Verb) => act.mutateAsync(verb) };
}
type Verbs = ReturnType<typeof useVerbs>;

const Pausing = ({ isPaused, act }: { isPaused: boolean; act: Verbs['act'] }) => (
  <Line
    title={isPaused ? 'Paused' : 'Running'}
    words={
      isPaused
        ? 'Executions are refused, and no schedule is due.'
        : 'Pausing refuses executions and stops schedules until you resume.'
    }
  >
    <Button
      pending={act.isPending && (act.variables === 'pause' || act.variables === 'resume')}
      onClick={() => act.mutate(isPaused ? 'resume' : 'pause')}
    >
      {isPaused ? 'Resume' : 'Pause'}
    </Button>
  </Line>
);

const Publishing = ({ isPublic, perform }: { isPublic: boolean; perform: Verbs['perform'] }) => (
  <Line
    title={isPublic ? 'Published' : 'Private'}
    words={
      isPublic
        ? 'Others read its instances and history, and wallets execute its public events.'
        : 'Only you see it. Published, others read it and wallets execute its public events.'
    }
  >
    {isPublic ? (
      <Confirm
        verb="Unpublish"
        look="secondary"
        title="Unpublish the deployment?"
        onConfirm={() => perform('unpublish')}
      >
        Others can no longer read it, and wallets can no longer execute its events. You can publish it again.
      </Confirm>
    ) : (
      <Confirm
        verb="Publish"
        look="secondary"
        title="Publish the deployment?"
        onConfirm={() => perform('publish')}
      >
        Everyone who has its address can read its instances and its history, and wallets can execute its
        public events.
      </Confirm>
    )}
  </Line>
);

const Locking = ({ isLocked, perform }: { isLocked: boolean; perform: Verbs['perform'] }) => (
  <Line
    title={isLocked ? 'Locked' : 'Upgradable'}
    words={
      isLocked
        ? 'What it runs is fixed for ever: bindings, versions, schemas and model.'
        : 'Bindings, model and instances may change. A lock fixes what it runs, for ever.'
    }
  >
    {!isLocked && (
      <Confirm verb="Lock" title="Lock the deployment for ever?" onConfirm={() => perform('lock')}>
        What it runs can never be changed any more: its bindings, their versions, the schemas, the model.
        Instances change by executions alone. This cannot be undone.
      </Confirm>
    )}
  </Line>
);

function Deletion({ name, isLocked }: { name: string; isLocked: boolean }) {
  const orrery = useOrrery();
  const ref = useDeploymentRef();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const remove = async () => {
    await orrery.delete('/api/worlds/{worldAddress}/deployments/{address}', { path: deploymentPath(ref) });
    await navigate({ to: '/worlds/$world', params: { world: ref.world }, ignoreBlocker: true });
    cache.removeQueries({ queryKey: deploymentKey(ref) });
    await cache.invalidateQueries({ queryKey: deploymentsKey(ref.world) });
  };
  return (
    <Line
      title="Delete"
      words={
        isLocked
          ? 'A locked deployment stays: it cannot be deleted.'
          : 'Its instances and its history are gone with it.'
      }
    >
      {!isLocked && (
        <Confirm verb="Delete" title={`Delete ${name}?`} onConfirm={remove}>
          The deployment, its instances and its history are deleted. This cannot be undone.
        </Confirm>
      )}
    </Line>
  );
}
