import type { Requests } from '../requests/requests.js';
import { createDeployment, type Deployment } from './deployment.js';

/** A published deployment as anyone reads it: what the owner alone sees is left out (docs/public-execution.md). */
export interface PublishedDeployment
  extends Pick<Deployment, 'instances' | 'history' | 'journal' | 'stream' | 'verifyHistory'> {
  readonly address: string;
}

export function createPublished(requests: Requests, address: string): PublishedDeployment {
  const { instances, history, journal, stream, verifyHistory } = createDeployment(withoutKey(requests), {
    worldAddress: NO_WORLD,
    address,
  });
  return { address, instances, history, journal, stream, verifyHistory };
}

/** Stands where the paths of owners have a world; nothing is sent of it. */
const NO_WORLD = '0';
const OWNED = /^\/api\/worlds\/[^/]+\/deployments\//;
const OPENED = '/app/deployments/';

/** What reads a deployment below `/api` reads it below `/app`: the same operations, without a world in their paths. */
function withoutKey({ answer, open }: Requests): Requests {
  return {
    answer: ((method: 'get', path: string, init: { path: object }) => {
      const { worldAddress: _, ...inPath } = init.path as Record<string, unknown>;
      return (answer as Untyped)(method, path.replace(OWNED, OPENED), { ...init, path: inPath });
    }) as Requests['answer'],
    open: (path, ...rest) => open(path.replace(OWNED, OPENED), ...rest),
    isWithoutKey: true,
  };
}

type Untyped = (method: string, path: string, init: object) => Promise<never>;
