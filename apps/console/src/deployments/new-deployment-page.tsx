import { useParams, useSearch } from '@tanstack/react-router';
import { useDeployment } from '../api/deployments.js';
import { useEvents } from '../api/worlds.js';
import { Await } from '../ui/messages.js';
import { Page } from '../ui/page.js';
import { NewDeploymentForm } from './new-deployment-form.js';

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
      {({ data }) => <NewDeploymentForm world={world} events={data} />}
    </Await>
  </Page>
);

const Clone = ({ world, source, seq }: { world: string; source: string; seq: number | undefined }) => (
  <Page
    title="Clone a deployment"
    lead="The clone has the instances and bindings of its source, and a history of its own. The source stays as it is."
  >
    <Await query={useDeployment({ world, deployment: source })} what="the source">
      {(deployment) => <NewDeploymentForm world={world} events={[]} source={deployment} seq={seq} />}
    </Await>
  </Page>
);
