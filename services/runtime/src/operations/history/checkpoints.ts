import {
  type CallContext,
  type checkpointRpcs,
  fieldProblem,
  type Handlers,
  refusedHttp,
  ServiceError,
} from '@orrery/contracts';
import { originOf, signCheckpoint } from '../../core/merkle/checkpoint.js';
import { consistencyPath, inclusionPath, type Leaves } from '../../core/merkle/merkle-tree.js';
import type { SeenDeployment } from '../../store/deployments/deployment-directory.js';
import { isGrown } from '../../store/journal/merkle-trees.js';
import { type ReadTree, readTree } from '../../store/journal/read-merkle-tree.js';
import type { RuntimeContext } from '../context.js';

type Dependencies = Pick<RuntimeContext, 'db' | 'clock' | 'access' | 'reading' | 'growTree' | 'signingKeys'>;

/** Computed from the journal when they are asked for, or in the background (docs/adr/0037). */
export function checkpointHandlers(context: Dependencies): Handlers<typeof checkpointRpcs> {
  const { access, signingKeys } = context;
  return {
    'history.head': async ({ params }, call) => {
      const deployment = await access.see(params, call.caller);
      const [first] = signingKeys;
      if (first === undefined) throw notSigning();
      return inTree(context, deployment, call, async ({ size, generation, lost, rootsOver }) => {
        const [root] = await rootsOver([{ start: 0, end: size }]);
        const head = { origin: originOf(first.name, deployment.address, generation), size, lost };
        return {
          data: {
            ...head,
            checkpoint: signCheckpoint({ ...head, root: root as Buffer }, signingKeys),
            generation,
            rootHash: hex(root),
            keys: signingKeys.map(({ verifier }) => verifier),
          },
        };
      });
    },

    'history.proof': async ({ params, query: { seq, size } }, call) => {
      const deployment = await access.see(params, call.caller);
      if (seq > size) throw refused('seq', `The tree of size ${size} has the entries 1 to ${size}.`);
      return inTree({ ...context, until: size }, deployment, call, async (tree) => {
        requireSize('size', size, tree);
        const leaf = { start: seq - 1, end: seq };
        const { path: found, rootHash } = await nodesOf(tree, size, [
          leaf,
          ...inclusionPath(seq - 1, whole(size)),
        ]);
        const [leafHash = '', ...path] = found;
        return { data: { seq, size, leafHash, path, rootHash } };
      });
    },

    'history.consistency': async ({ params, query: { from, to } }, call) => {
      const deployment = await access.see(params, call.caller);
      if (from > to) throw refused('from', 'The earlier size may not be larger than the later one, `to`.');
      return inTree({ ...context, until: to }, deployment, call, async (tree) => {
        requireSize('to', to, tree);
        const wanted = [whole(from), ...consistencyPath(from, to)];
        const {
          path: [fromRootHash = '', ...path],
          rootHash,
        } = await nodesOf(tree, to, wanted);
        return { data: { from, to, path, fromRootHash, toRootHash: rootHash } };
      });
    },
  };
}

const notSigning = () =>
  new ServiceError(
    'signing_unavailable',
    'This installation has no key to sign checkpoints with: its operator sets ORRERY_SIGNING_KEY_FILE for the runtimes.',
  );

const whole = (size: number): Leaves => ({ start: 0, end: size });
const hex = (node: Buffer | undefined): string => node?.toString('hex') ?? '';

async function nodesOf(tree: ReadTree, size: number, leaves: readonly Leaves[]) {
  const [root, ...path] = await tree.rootsOver([whole(size), ...leaves]);
  return { path: path.map(hex), rootHash: hex(root) };
}

function requireSize(parameter: string, size: number, { entries }: ReadTree): void {
  if (size > entries) throw refused(parameter, `The journal has the entries 1 to ${entries}.`);
}

const refused = (parameter: string, message: string) =>
  refusedHttp([fieldProblem(`/query/${parameter}`, 'too_big', message)]);

/** Share of the time until the deadline that adding to the tree may take. */
const SHARE_OF_TIME = 0.6;

interface TreeUse extends Pick<Dependencies, 'db' | 'clock' | 'reading' | 'growTree'> {
  /** Entries that are needed; absent: all of now. */
  readonly until?: number | undefined;
}

/** Uses the tree, and makes what it lacks. @throws `unavailable` while a long journal's is still computed */
export async function inTree<T>(
  { db, clock, reading, growTree, until }: TreeUse,
  { id }: Pick<SeenDeployment, 'id'>,
  { signal, deadline }: Pick<CallContext, 'signal' | 'deadline'>,
  use: (tree: ReadTree) => Promise<T>,
): Promise<T> {
  const read = () => reading.run(signal, () => readTree(db, id, until));
  const tree = await read();
  const seq = Math.min(tree.entries, until ?? tree.entries);
  if (isGrown(tree.stored, seq)) return reading.run(signal, () => use(tree));
  const latest = clock.monotonic() + (deadline - clock.monotonic()) * SHARE_OF_TIME;
  const done = await growTree(id, seq, { signal, isEnough: () => clock.monotonic() >= latest });
  if (!isGrown(done, seq))
    throw new ServiceError(
      'unavailable',
      `The Merkle tree of the journal is being computed, up to entry ${done} of ${seq} until now. Ask again.`,
    );
  const grown = await read();
  return reading.run(signal, () => use(grown));
}
