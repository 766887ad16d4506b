import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { worldQuery } from '../api/worlds.js';
import { DeploymentList } from '../deployments/deployment-list.js';
import { useOrrery } from '../session/use-session.js';
import { Await } from '../ui/await.js';
import { Badge } from '../ui/badge.js';
import { CopyableCode } from '../ui/copy.js';
import { Details } from '../ui/details.js';
import { Card, Page } from '../ui/page.js';
import { Time } from '../ui/time.js';

export function WorldPage() {
  const { world } = useParams({ from: '/worlds/$world' });
  const query = useQuery(worldQuery(useOrrery(), world));
  return (
    <Await query={query} what="the world">
      {({ name, description, address, isPublic, createdAt, updatedAt, domainTags }) => (
        <Page title={name} lead={description} beside={isPublic && <Badge tone="accent">published</Badge>}>
          <DeploymentList world={world} />
          <Card>
            <Details
              items={[
                ['Address', <CopyableCode key="address" text={address} what="address of the world" />],
                ['About', domainTags.join(', ') || '–'],
                ['Created', <Time key="created" at={createdAt} />],
                ['Changed', <Time key="changed" at={updatedAt} relative />],
              ]}
            />
          </Card>
        </Page>
      )}
    </Await>
  );
}
