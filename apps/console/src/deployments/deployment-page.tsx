import { useQuery } from '@tanstack/react-query';
import { Outlet, useParams } from '@tanstack/react-router';
import { deploymentQuery } from '../api/deployments.js';
import { useOrrery } from '../session/use-session.js';
import { Await } from '../ui/await.js';
import { Page } from '../ui/page.js';

/** A deployment: its name, and the tab that is open. */
export function DeploymentPage() {
  const ref = useParams({ from: '/worlds/$world/deployments/$deployment' });
  const query = useQuery(deploymentQuery(useOrrery(), ref));
  return (
    <Await query={query} what="the deployment">
      {({ name, description }) => (
        <Page title={name} lead={description}>
          <Outlet />
        </Page>
      )}
    </Await>
  );
}
