import { useQuery } from '@tanstack/react-query';
import { useParams, useSearch } from '@tanstack/react-router';
import { deploymentQuery } from '../api/deployments.js';
import { eventsQuery } from '../api/events.js';
import { useOrrery } from '../session/use-session.js';
import { Await } from '../ui/await.js';
import { Page } from '../ui/page.js';
import { NewDeploymentForm } from './new-deployment-form.js';

/** Creates a deployment: an empty one, or a clone as its source is or was. */
export function NewDeploymentPage() {
  const { world } = useParams({ from: '/worlds/$world/deploy' });
  const { source, seq } = useSearch({ from: '/worlds/$world/deploy' });
  return source === undefined ? <Empty world={world} /> : <Clone world={world} source={source} seq={seq} />;
}

function Empty({ world }: { world: string }) {
  const query = useQuery(eventsQuery(useOrrery(), world));
  return (
    <Page
      title="New deployment"
      lead="A deployment runs the world: it holds instances, executes events and keeps their history."
    >
      <Await query={query} what="the events of the world">
        {({ data }) => <NewDeploymentForm world={world} events={data} />}
      </Await>
    </Page>
  );
}

function Clone({ world, source, seq }: { world: string; source: string; seq: number | undefined }) {
  const query = useQuery(deploymentQuery(useOrrery(), { world, deployment: source }));
  return (
    <Page
      title="Clone a deployment"
      lead="The clone has the instances and bindings of its source, and a history of its own. The source stays as it is."
    >
      <Await query={query} what="the source">
        {(deployment) => <NewDeploymentForm world={world} events={[]} source={deployment} seq={seq} />}
      </Await>
    </Page>
  );
}
