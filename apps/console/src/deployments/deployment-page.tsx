import { Link, Outlet, useParams, useRouterState } from '@tanstack/react-router';
import { useDeployment } from '../api/deployments.js';
import type { Deployment } from '../api/records.js';
import { AwaitPage } from '../ui/await-page.js';
import { Said } from '../ui/messages.js';
import { Page } from '../ui/page.js';
import { TabLink, TabLinks } from '../ui/tabs.js';
import { Badge, Copy } from '../ui/values.js';
import { TABS } from './deployment-tabs.js';

export default function DeploymentPage() {
  const ref = useParams({ from: '/worlds/$world/deployments/$deployment' });
  // Of its creation: what the service warns of.
  const said = useRouterState({ select: ({ location }) => location.state.said });
  return (
    <AwaitPage query={useDeployment(ref)} what="deployment">
      {(deployment) => (
        <Page
          title={deployment.name}
          lead={deployment.description}
          beside={<States deployment={deployment} world={ref.world} />}
        >
          <Said said={said} />
          <TabLinks label="Parts of the deployment">
            {TABS.map(([to, label]) => (
              <TabLink key={to} to={`/worlds/$world/deployments/$deployment/${to}`} params={ref}>
                {label}
              </TabLink>
            ))}
          </TabLinks>
          <Outlet />
        </Page>
      )}
    </AwaitPage>
  );
}

const States = ({
  deployment: { address, mode, isPublic, isPaused, source, purpose },
  world,
}: {
  deployment: Deployment;
  world: string;
}) => (
  <>
    {isPaused && <Badge tone="warn">paused</Badge>}
    {mode === 'locked' && <Badge>locked</Badge>}
    {isPublic && <Badge tone="accent">published</Badge>}
    {isPublic ? (
      <span className="inline-flex items-center gap-1">
        <a className="link" href={`/play/${address}`} target="_blank" rel="noreferrer">
          Player’s page
        </a>
        <Copy text={`${location.origin}/play/${address}`} what="address of the player’s page" />
      </span>
    ) : (
      <Link
        to="/worlds/$world/deployments/$deployment/settings"
        params={{ world, deployment: address }}
        hash="state"
        className="link text-sm"
      >
        Private: publish it for players
      </Link>
    )}
    {purpose === 'what_if' && <Badge>what-if fork</Badge>}
    {source !== null && (
      <>
        <Link
          to="/worlds/$world/deployments/$deployment/live"
          params={{ world, deployment: source.address }}
          search={{ seq: source.seq }}
          title="Look at the deployment that it was made from"
        >
          <Badge>fork of entry {source.seq}</Badge>
        </Link>
        <Link
          to="/worlds/$world/deployments/$deployment/compare"
          params={{ world, deployment: address }}
          search={{ with: source.address }}
          className="link text-sm"
        >
          Compare with it
        </Link>
      </>
    )}
  </>
);
