import { isDeepStrictEqual } from 'node:util';
import type { DeploymentRecord } from '@orrery/contracts';
import { throughInstances } from '../deployments/instance-mapping.js';
import { listAll, type Named } from '../operations/references.js';
import type { Server } from '../server/find-server.js';
import type { Plan, SchemaChange } from './plan-changes.js';

/** How many instances of which deployments will not satisfy a schema that is to change, a sentence for each. */
export async function unfitInstances({ changes }: Plan, world: string, server: Server): Promise<string[]> {
  const changed = changes.filter(
    (change): change is SchemaChange =>
      change.what === 'change schema' && !isDeepStrictEqual(change.from.attributes, change.to.attributes),
  );
  if (changed.length === 0) return [];
  const all = await listAll<Named & Pick<DeploymentRecord, 'mode'>>(server, `/worlds/${world}/deployments`);
  // In a locked one no instance can be mapped.
  const deployments = all.filter(({ mode }) => mode !== 'locked');
  const sentences: string[] = [];
  for (const { name, to } of changed)
    for (const deployment of deployments) {
      const reference = { worldAddress: world, address: deployment.address };
      const body = { entitySchema: name, attributes: to.attributes ?? [] };
      const { unfit, lookedAt, misfits } = await throughInstances(server, reference, 'check', body);
      if (unfit > 0)
        sentences.push(sentence(name, deployment, { unfit, lookedAt, why: misfits[0]?.problems[0] }));
    }
  return sentences;
}

function sentence(
  schema: string,
  { name, address }: Named,
  { unfit, lookedAt, why }: { unfit: number; lookedAt: number; why: { message: string } | undefined },
): string {
  const all = `schema ${schema}: ${unfit} of ${lookedAt} instances in "${name}" do not satisfy it as it is to be`;
  const first = why === undefined ? '' : ` (${why.message})`;
  return `${all}${first}; once it is applied, \`orrery instances map ${address} ${schema} 'attribute={{ instance.… }}'\` maps them`;
}
