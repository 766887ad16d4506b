import { useParams } from '@tanstack/react-router';
import type { World } from '../api/records.js';
import { isOwn, useWorld } from '../api/worlds.js';
import { DeploymentList } from '../deployments/deployment-list.js';
import { EventList } from '../events/event-list.js';
import { SchemaList } from '../schemas/schema-list.js';
import { Await } from '../ui/messages.js';
import { Card, Details, Page } from '../ui/page.js';
import { Badge, CopyableCode, Time } from '../ui/values.js';
import { WorldActions } from './world-actions.js';

export default function WorldPage() {
  const { world } = useParams({ from: '/worlds/$world' });
  return (
    <Await query={useWorld(world)} what="the world">
      {(record) => (
        <Page
          title={record.name}
          lead={record.description}
          beside={record.isPublic && <Badge tone="accent">published</Badge>}
          actions={isOwn(record) && <WorldActions world={record} page={world} />}
        >
          <DeploymentList world={world} isOwn={isOwn(record)} />
          <EventList world={world} isOwn={isOwn(record)} />
          <SchemaList world={world} isOwn={isOwn(record)} />
          <About world={record} />
        </Page>
      )}
    </Await>
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
