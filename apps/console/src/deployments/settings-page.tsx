import { useQuery } from '@tanstack/react-query';
import { deploymentQuery } from '../api/deployments.js';
import { useOrrery } from '../session/use-session.js';
import { Await } from '../ui/await.js';
import { CopyableCode } from '../ui/copy.js';
import { Details } from '../ui/details.js';
import { Card, Section } from '../ui/page.js';
import { Time } from '../ui/time.js';
import { BindingsSection } from './bindings-section.js';
import { SettingsForm } from './settings-form.js';
import { StateSection } from './state-section.js';
import { useDeploymentRef } from './use-deployment-ref.js';

/** What a deployment runs, how it is set up, and what can be done with it as a whole. */
export function SettingsPage() {
  const query = useQuery(deploymentQuery(useOrrery(), useDeploymentRef()));
  return (
    <Await query={query} what="the deployment">
      {(deployment) => (
        <>
          <BindingsSection isLocked={deployment.mode === 'locked'} />
          <Section title="Settings">
            <SettingsForm deployment={deployment} />
          </Section>
          <StateSection deployment={deployment} />
          <Section title="About">
            <Card>
              <Details
                items={[
                  [
                    'Address',
                    <CopyableCode key="address" text={deployment.address} what="address of the deployment" />,
                  ],
                  ['Created', <Time key="created" at={deployment.createdAt} />],
                  ['Changed', <Time key="changed" at={deployment.updatedAt} />],
                  ...(deployment.source
                    ? [
                        [
                          'Cloned from',
                          <CopyableCode
                            key="source"
                            text={deployment.source.address}
                            what="address of its source"
                          />,
                        ] as const,
                        ['After its entry', deployment.source.seq] as const,
                      ]
                    : []),
                  ...(deployment.definitionHash
                    ? [
                        ['Locked', <Time key="locked" at={deployment.lockedAt} />] as const,
                        [
                          'Hash of what it runs',
                          <CopyableCode key="hash" text={deployment.definitionHash} what="definition hash" />,
                        ] as const,
                      ]
                    : []),
                ]}
              />
            </Card>
          </Section>
        </>
      )}
    </Await>
  );
}
