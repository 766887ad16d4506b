import { z } from 'zod';
import { DEPLOYMENT_PATH, IN_DEPLOYMENT } from '../names/names.js';
import { address, ordinal, sha256, timestamp } from '../records/fields.js';
import { wholeNumberInQuery } from '../records/pagination.js';
import { operationsAt } from '../rpc/operation.js';
import { rpc } from '../rpc/rpc.js';

/** A path has at most one node for each bit of the size, and a consistency proof one more. */
const MOST_NODES = 64;

const path = z.array(sha256).max(MOST_NODES);

export const treeCheckpoint = z
  .strictObject({
    checkpoint: z
      .string()
      .max(4096)
      .describe('The checkpoint as a C2SP signed note: origin, size, root hash in base64, signatures.'),
    origin: z
      .string()
      .max(512)
      .describe('Which journal it is: host, address of the deployment, generation, joined by slashes.'),
    generation: ordinal.describe('1, and one more for each loss of entries by the database (`tail_lost`).'),
    size: ordinal.describe('Entries that it covers: those with `seq` 1 to this.'),
    rootHash: sha256.describe('Root of the RFC 6962 tree over the hashes of these entries.'),
    lost: z
      .strictObject({
        seq: ordinal.describe('Its position in the journal of then.'),
        hash: sha256.describe('Its hash.'),
      })
      .nullable()
      .describe(
        'The last entry of the generation before, which the database lost with others. Null: none was lost.',
      ),
    keys: z
      .array(z.string().max(512))
      .max(8)
      .describe(
        'The public keys of its signatures, as verifiers of signed notes take them. Keep them from an earlier time: who ' +
          'could forge a checkpoint could name other keys here.',
      ),
  })
  .meta({ id: 'Checkpoint', description: 'What the operator signs of a journal: all entries until now.' });

export const inclusionProof = z
  .strictObject({
    seq: ordinal.describe('The entry.'),
    size: ordinal.describe('The size of the tree.'),
    leafHash: sha256.describe('SHA-256 of a byte 0 and the 32 bytes of the hash of the entry.'),
    path: path.describe('The inclusion proof by RFC 6962, 2.1.1: nodes from the leaf up.'),
    rootHash: sha256.describe('The root that they lead to.'),
  })
  .meta({ id: 'InclusionProof', description: 'That an entry is in the tree of a checkpoint.' });

export const consistencyProof = z
  .strictObject({
    from: ordinal.describe('The size of the earlier tree.'),
    to: ordinal.describe('The size of the later tree.'),
    path: path.describe('The consistency proof by RFC 6962, 2.1.2. Empty where both sizes are equal.'),
    fromRootHash: sha256.describe('The root of the earlier tree.'),
    toRootHash: sha256.describe('The root of the later tree.'),
  })
  .meta({
    id: 'ConsistencyProof',
    description: 'That the tree of a checkpoint begins with that of an earlier one.',
  });

const sizeInQuery = wholeNumberInQuery(
  /^[1-9]\d{0,14}$/,
  'A whole number of at least 1 is required.',
  999_999_999_999_999,
);
const { read } = operationsAt(DEPLOYMENT_PATH, 'History', IN_DEPLOYMENT);

export const checkpointRpcs = {
  'history.head': read('/head', 'Get a signed checkpoint of the journal', {
    errors: ['signing_unavailable', 'history_broken'],
    data: treeCheckpoint,
  }),
  'history.proof': read('/proof', 'Prove that a checkpoint covers an entry of the journal', {
    errors: ['history_broken'],
    query: z.strictObject({
      seq: sizeInQuery.describe('The entry.'),
      size: sizeInQuery.describe('The size of the checkpoint.'),
    }),
    data: inclusionProof,
  }),
  'history.consistency': read('/consistency', 'Prove that a checkpoint extends an earlier one', {
    errors: ['history_broken'],
    query: z.strictObject({
      from: sizeInQuery.describe('The size of the earlier checkpoint.'),
      to: sizeInQuery.describe('The size of the later checkpoint.'),
    }),
    data: consistencyProof,
  }),
};

/** The tree over the first entries of a journal. */
const pastHead = z.object({
  generation: ordinal,
  size: ordinal,
  rootHash: sha256,
  /** `hash` of the last of these entries. */
  entryHash: sha256,
});
export type PastHead = z.infer<typeof pastHead>;

export const pastHeadRpcs = {
  /**
   * The tree over the entries that were committed before a time, the entry `from` and any before it among them. Null until it
   * is certain that no further entry can have a time before it.
   */
  'journal.headBefore': rpc({
    errors: ['deployment_not_found', 'history_broken'],
    request: z.object({ deployment: address, from: ordinal, before: timestamp }),
    reply: z.object({ head: pastHead.nullable() }),
  }),
};
