import { useNavigate, useParams } from '@tanstack/react-router';
import { useChange, useRemoval } from '../api/change.js';
import { useDeployments } from '../api/deployments.js';
import { keyOf } from '../api/read.js';
import type { World } from '../api/records.js';
import { isOwn, useWorld, WORLDS } from '../api/worlds.js';
import { DeploymentList } from '../deployments/deployment-list.js';
import { EventList } from '../events/event-list.js';
import { SchemaList } from '../schemas/schema-list.js';
import { AwaitPage } from '../ui/await-page.js';
import { ButtonLink } from '../ui/button.js';
import { Confirm } from '../ui/dialog.js';
import { lazily } from '../ui/lazily.js';
import { Card, Details, Page } from '../ui/page.js';
import { Badge, CopyableCode, Time } from '../ui/values.js';
import { EditWorld } from './world-form.js';

export default function WorldPage() {
  const { world } = useParams({ from: '/worlds/$world' });
  return (
    <AwaitPage query={useWorld(world)} what="world">
      {(record) => (
        <Page
          title={record.name}
          lead={record.description}
          beside={record.isPublic && <Badge tone="accent">published</Badge>}
          actions={
            <>
              <ButtonLink to="/worlds/$world/map" params={{ world }}>
                Map
              </ButtonLink>
              {isOwn(record) && <WorldActions world={record} />}
            </>
          }
        >
          {isOwn(record) && <Attention world={world} />}
          <Parts world={world} isOwn={isOwn(record)} />
          <About world={record} />
        </Page>
      )}
    </AwaitPage>
  );
}

const Attention = lazily(
  { what: 'What needs attention', meanwhile: 'Looking' },
  () => import('../overview/world-attention.js'),
);

/** What runs comes first; in a world where nothing runs yet, the parts are in the order in which they are made. */
function Parts(props: { world: string; isOwn: boolean }) {
  const { data } = useDeployments(props.world);
  const parts = [DeploymentList, EventList, SchemaList];
  if (data?.pagination.total === 0) parts.reverse();
  return parts.map((Part) => <Part key={Part.name} {...props} />);
}

function WorldActions({ world }: { world: World }) {
  const { address, name, isPublic } = world;
  const path = { idOrAddress: address };
  const keys = [keyOf(WORLDS)];
  const navigate = useNavigate();
  const publish = useChange(
    (orrery) => orrery.post(`/api/worlds/{idOrAddress}/${isPublic ? 'unpublish' : 'publish'}`, { path }),
    keys,
  );
  const remove = useRemoval(
    (orrery) => orrery.delete('/api/worlds/{idOrAddress}', { path }),
    () => navigate({ to: '/' }),
    keys,
  );
  return (
    <>
      <EditWorld world={world} />
      <Confirm
        verb={isPublic ? 'Unpublish' : 'Publish'}
        look="secondary"
        title={`${isPublic ? 'Unpublish' : 'Publish'} the world?`}
        onConfirm={() => publish.mutateAsync()}
      >
        {isPublic
          ? 'Other accounts can no longer read its definitions. Its deployments go on as they are.'
          : 'Every account of this server can then read its schemas and events, but no prompts and templates. Players come in where a deployment is published, in its settings.'}
      </Confirm>
      <Confirm verb="Delete" title={`Delete ${name}?`} typed={name} onConfirm={remove}>
        Its schemas and events go with it. This cannot be undone. A world with deployments is not deleted.
      </Confirm>
    </>
  );
}

const About = ({ world }: { world: World }) => (
  <section>
    <h2 className="mb-2.5 text-lg font-semibold">About the world</h2>
    <Card>
      <Details
        items={{
          Address: <CopyableCode text={world.address} what="address of the world" />,
          Id: world.id,
          Tags: world.domainTags.join(', ') || '–',
          'Prompt seed': world.promptSeed ? (
            <p className="max-w-3xl whitespace-pre-wrap">{world.promptSeed}</p>
          ) : (
            '–'
          ),
          Created: <Time at={world.createdAt} />,
          Changed: <Time at={world.updatedAt} relative />,
        }}
      />
    </Card>
  </section>
);
