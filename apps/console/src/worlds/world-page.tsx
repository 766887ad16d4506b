import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { World } from '../api/records.js';
import { isOwn, worldQuery } from '../api/worlds.js';
import { DeploymentList } from '../deployments/deployment-list.js';
import { EventList } from '../events/event-list.js';
import { SchemaList } from '../schemas/schema-list.js';
import { useOrrery } from '../session/use-session.js';
import { Await } from '../ui/await.js';
import { Badge } from '../ui/badge.js';
import { CopyableCode } from '../ui/copy.js';
import { Details } from '../ui/details.js';
import { Card, Page } from '../ui/page.js';
import { Time } from '../ui/time.js';
import { WorldActions } from './world-actions.js';

export function WorldPage() {
  const { world } = useParams({ from: '/worlds/$world' });
  const query = useQuery(worldQuery(useOrrery(), world));
  return (
    <Await query={query} what="the world">
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

const About = ({
  world: { address, id, createdAt, updatedAt, domainTags, promptSeed },
}: {
  world: World;
}) => (
  <section>
    <h2 className="mb-2.5 text-lg font-semibold">About the world</h2>
    <Card>
      <Details
        items={[
          ['Address', <CopyableCode key="address" text={address} what="address of the world" />],
          ['Id', id],
          ['Tags', domainTags.join(', ') || '–'],
          [
            'Prompt seed',
            promptSeed ? (
              <p key="seed" className="max-w-3xl whitespace-pre-wrap">
                {promptSeed}
              </p>
            ) : (
              '–'
            ),
          ],
          ['Created', <Time key="created" at={createdAt} />],
          ['Changed', <Time key="changed" at={updatedAt} relative />],
        ]}
      />
    </Card>
  </section>
);
