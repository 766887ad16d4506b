import { z } from 'zod';
import { deploymentPath } from '../names/names.js';
import { address, sha256, timestamp } from '../records/fields.js';
import { defineMessage, rpc } from '../rpc/rpc.js';
import { type JournalKind, journalKind } from './journal.js';

/**
 * Kinds of entries that tell what happens inside a deployment. The others, of its lifecycle, tell what it is, what it runs,
 * and whether it runs at all, which other services follow.
 */
export const INNER_KINDS = [
  'execution',
  'instance_created',
  'instance_updated',
  'instance_deleted',
  'timer_set',
  'timer_cancelled',
  'randomness_committed',
  'randomness_revealed',
] as const satisfies readonly JournalKind[];
export const lifecycleKind = journalKind.exclude(INNER_KINDS);
export const LIFECYCLE_KINDS: ReadonlySet<string> = new Set(lifecycleKind.options);

/** A lifecycle entry, with the names of the events whose bindings it added, changed or removed. */
export const lifecycleEntry = z.object({
  seq: z.int(),
  kind: lifecycleKind,
  events: z.array(z.string()),
  /** The version of each of these events that is bound then. Absent: they were unbound, or the runtime is of an older release. */
  versions: z.record(z.string(), z.int()).optional(),
  /** Of an entry that pauses or resumes: for which cause. */
  cause: z.enum(['owner', 'account', 'operator']).nullable(),
  /** By the clock of the process that wrote it. */
  at: timestamp,
});
export type LifecycleEntry = z.infer<typeof lifecycleEntry>;

/** The last lifecycle entry of a deployment. */
export const lifecycleHead = z.object({ seq: z.int(), hash: sha256 });
export type LifecycleHead = z.infer<typeof lifecycleHead>;

export const boundVersion = z.object({
  bindingId: z.int(),
  event: z.string(),
  versionId: z.int(),
  eventVersion: z.int(),
});
export type BoundVersion = z.infer<typeof boundVersion>;

/** A deployment as its lifecycle entries up to `head` have made it. */
export const deploymentLifecycle = z.object({
  deployment: address,
  worldId: z.int(),
  worldAddress: address,
  isPaused: z.boolean(),
  isDeleted: z.boolean(),
  bindings: z.array(boundVersion),
  head: lifecycleHead,
  /** The hash of the entry `after`; null where the journal has no such entry any more. */
  afterHash: sha256.nullable(),
  /** The entries after `after`, in order; only the last of them where there are many. */
  entries: z.array(lifecycleEntry),
  /** When it was read, by the clock of the process that answers: tells how wrong the times of entries may be. */
  now: timestamp,
});
export type DeploymentLifecycle = z.infer<typeof deploymentLifecycle>;

export const lifecycleRpcs = {
  /**
   * What a deployment is and runs now, and how it came there since an entry. A service that follows bindings asks for it
   * when it hears of a change (`lifecycleChanged`), or finds one (`journal.heads` of lifecycles). Deleted ones too.
   */
  'lifecycle.read': rpc({
    errors: ['deployment_not_found'],
    request: z.object({ deployment: address, after: z.int().min(0) }),
    reply: deploymentLifecycle,
  }),
  /**
   * Whether the account of the call may do something with a deployment; for services that keep rows of deployments.
   * `lifecycle`: an answer about the deployment has to include its entries up to here.
   */
  'deployments.authorize': rpc({
    errors: ['deployment_not_found', 'forbidden'],
    request: z.object({ params: deploymentPath, relation: z.enum(['visible', 'owner']) }),
    reply: z.object({
      deployment: address,
      isPaused: z.boolean(),
      lifecycle: lifecycleHead,
      /** The caller owns it, or it is `isCodePublic`. A runtime of an earlier release does not say. */
      seesCode: z.boolean().optional(),
    }),
  }),
};

/**
 * Broadcast after a commit that wrote a lifecycle entry. Who missed it finds out through `journal.heads`.
 */
export const lifecycleChanged = defineMessage(
  'runtime',
  'lifecycle-changed',
  z.strictObject({ deployments: z.array(z.string()) }),
);
