import { useDeployments } from '../api/deployments.js';
import type { Deployment } from '../api/records.js';
import { Section } from '../ui/page.js';
import { needsOf } from './attention.js';
import { Needs } from './needs.js';
import { REREAD_IN_WORLD, useParts } from './queries.js';

/** Deployments that are looked at: each takes some requests. */
const MOST_SHOWN = 5;

/** What needs attention in the deployments of a world, where something does. */
export default function WorldAttention({ world }: { world: string }) {
  const deployments = useDeployments(world).data?.data ?? [];
  return deployments
    .slice(0, MOST_SHOWN)
    .map((deployment) => <OfDeployment key={deployment.address} world={world} deployment={deployment} />);
}

function OfDeployment({ world, deployment }: { world: string; deployment: Deployment }) {
  const { address, name } = deployment;
  const ref = { world, deployment: address };
  const needs = needsOf(useParts(ref, deployment, REREAD_IN_WORLD));
  if (needs.length === 0) return null;
  return (
    <Section title={`${name} needs attention`}>
      <Needs needs={needs} of={ref} name={name} />
    </Section>
  );
}
