import {
  type Caller,
  type ErrorCode,
  type Evaluator,
  type ExecutionTrigger,
  type HashedEntry,
  type JsonObject,
  type Recorded,
  ServiceError,
} from '@orrery/contracts';
import { foldChange, type ReplayedEntry, type Seen } from '@orrery/deciding';

/** How an entry of another deployment is executed again: what it names in place of what is bound and what is now. */
export interface Replay {
  readonly eventVersion: number;
  /** Of the definition by which the entry was decided; absent: the version as it is now. */
  readonly versionHash?: string | undefined;
  /** Of the source, as templates see it. */
  readonly deployment: string;
  /** What templates see as now, by RFC 3339. */
  readonly timestamp: string;
  /** Null: the model of the deployment. */
  readonly aiModelId: string | null;
  /** The entry itself; absent where the request was stored by the release before. */
  readonly entry?: (ReplayedEntry & { readonly executedAt: string }) | undefined;
  /** The seed of what the entry drew; absent: it drew nothing. */
  readonly seed?: string | undefined;
  /** The revision of the rules by which the entry was decided; absent: none is known. */
  readonly evaluator?: Evaluator | undefined;
}

/** What is seen of a replayed execution: by templates, and by what remembers. */
export const seenOf = ({
  timestamp,
  deployment: address,
  entry,
}: Pick<Replay, 'timestamp' | 'deployment' | 'entry'>): Seen => ({
  now: Date.parse(timestamp),
  timestamp,
  address,
  ...(entry && { replays: { deploymentId: entry.deploymentId, seq: entry.seq } }),
});

/** What its entry in the fork says of it. */
export const replayFacts = ({ seq, executedAt }: NonNullable<Replay['entry']>): Recorded => ({
  replayOf: { seq, executedAt },
});

/** Who executed and what started it, as the entry of an execution records them. */
interface RecordedFacts {
  readonly trigger: ExecutionTrigger;
  readonly caller: Caller;
  /** What templates saw as `walletAddress`. */
  readonly walletAddress: string | null;
}

/** The facts in which an execution is repeated: its entry in the fork repeats them, too. */
export function recordedFacts({
  trigger,
  caller: name,
}: Pick<HashedEntry, 'trigger' | 'caller'>): RecordedFacts {
  const caller = callerNamed(name);
  switch (trigger) {
    case 'public':
      return { trigger, caller, walletAddress: caller.kind === 'wallet' ? caller.wallet : null };
    case 'admin':
    case 'cron':
    case 'timer':
      return { trigger, caller, walletAddress: null };
    case null:
      throw new ServiceError('internal', 'An entry without a trigger is no execution.');
  }
}

/** The caller whom a journal entry names: the inverse of `callerName`. */
export function callerNamed(name: string): Caller {
  const [kind, rest = ''] = splitAtColon(name);
  switch (kind) {
    case 'account':
      return { kind, accountId: Number(rest), scopes: [] };
    case 'wallet':
      return { kind, wallet: rest };
    case 'schedule':
      return { kind, event: rest };
    case 'service':
      return { kind, service: rest };
    default:
      return { kind: 'anonymous' };
  }
}

function splitAtColon(text: string): [string, string?] {
  const colon = text.indexOf(':');
  return colon < 0 ? [text] : [text.slice(0, colon), text.slice(colon + 1)];
}

/** What becomes of an entry in a fork. */
export type Replayable =
  | { readonly kind: 'execution'; readonly event: string; readonly eventVersion: number }
  | { readonly kind: 'write'; readonly change: HashedEntry['changes'][number] }
  | { readonly kind: 'nothing' };

/** Failures for what lies outside of the deployment: what would have been decided is not known. */
const FROM_OUTSIDE: ReadonlySet<string> = new Set<ErrorCode>([
  'payment_refused',
  'payment_already_used',
  'deadline_exceeded',
  'write_conflict',
  'budget_exhausted',
  'ai_model_unpriced',
  'unavailable',
  'ai_model_unavailable',
  'randomness_unavailable',
  'too_many_waiting',
]);

/**
 * Settings, bindings and pauses are not replayed: each execution names its version. Nor is an execution that failed for
 * its payment, a model or a beacon that was away or a wait that was too long.
 */
export function replayableOf(
  entry: Pick<HashedEntry, 'kind' | 'event' | 'eventVersion' | 'changes' | 'error'>,
): Replayable {
  const { kind, event, eventVersion, changes, error } = entry;
  switch (kind) {
    case 'execution':
      return event === null || eventVersion === null || FROM_OUTSIDE.has(error?.code ?? '')
        ? { kind: 'nothing' }
        : { kind, event, eventVersion };
    case 'instance_created':
    case 'instance_updated':
    case 'instance_deleted': {
      const [change] = changes;
      return change === undefined ? { kind: 'nothing' } : { kind: 'write', change };
    }
    case 'deployment_created':
    case 'settings_updated':
    case 'bindings_added':
    case 'bindings_updated':
    case 'binding_removed':
    case 'locked':
    case 'paused':
    case 'resumed':
    case 'published':
    case 'unpublished':
    case 'timer_set':
    case 'timer_cancelled':
    case 'deleted':
    case 'randomness_committed':
    case 'randomness_revealed':
    case 'tail_lost':
      return { kind: 'nothing' };
  }
}

/** The state that a recorded write leaves of another one: what it set and removed, and nothing else. */
export const patched = (before: JsonObject, change: HashedEntry['changes'][number]): JsonObject =>
  foldChange(before, { ...change, op: 'update' }) ?? {};
