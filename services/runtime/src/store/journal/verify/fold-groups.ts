import type { Divergence, HashedEntry, InstanceChange, JsonObject } from '@orrery/contracts';
import { changeKey, foldChange, hasKeptState, type InstanceName, sameJson } from '@orrery/deciding';
import { sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import { roughSize } from '../../state/instance-memory.js';
import type { Db } from '../../tables/schema.js';
import { named, pastStates } from '../past-states.js';

/** A state from the fold, from a kept one or from the instance's row; `state` null: deleted or absent. */
interface FoldedState {
  readonly state: JsonObject | null;
  readonly revision: number;
}

export interface StoredEntry {
  readonly entry: HashedEntry;
  readonly hash: string;
}

/** Rough bytes of the states that are remembered between groups; others are read again from their last kept one. */
const REMEMBERED = 96 * 1024 * 1024;
/** What a state takes beside what is in it. */
const OVERHEAD = 200;

/** The states as the fold has them, by change key, as far as they are remembered. */
export const createFoldMemory = (maxSize = REMEMBERED) =>
  new LRUCache<string, FoldedState>({
    maxSize,
    sizeCalculation: ({ state }) => OVERHEAD + (state === null ? 0 : roughSize(state)),
  });
export type FoldMemory = ReturnType<typeof createFoldMemory>;

/** Consecutive entries, and the instances that they change. */
interface EntryGroup {
  readonly entries: StoredEntry[];
  readonly names: Map<string, InstanceName>;
}

/** Instances of a group, unless one entry alone changes more (500 at most). */
const NAMES_IN_GROUP = 500;

/** Splits a page into groups whose instances are looked up together. */
export function groupEntries(entries: readonly StoredEntry[]): EntryGroup[] {
  const groups: EntryGroup[] = [];
  for (const stored of entries) {
    const names = stored.entry.changes.map((change) => [changeKey(change), change] as const);
    const last = groups.at(-1);
    if (last === undefined || last.names.size + names.length > NAMES_IN_GROUP) {
      groups.push({ entries: [stored], names: new Map(names) });
      continue;
    }
    last.entries.push(stored);
    for (const [key, name] of names) last.names.set(key, name);
  }
  return groups;
}

/** Folds a group's changes; answers the first divergence. */
export async function foldGroup(
  db: Db,
  deploymentId: number,
  group: EntryGroup,
  memory: FoldMemory,
): Promise<Divergence | undefined> {
  if (group.names.size === 0) return undefined;
  const range = { from: group.entries[0]?.entry.seq ?? 0, to: group.entries.at(-1)?.entry.seq ?? 0 };
  try {
    const states = await statesBefore(db, deploymentId, group, range.from - 1, memory);
    const evidence = await readEvidence(db, deploymentId, group, range);
    const found = foldEntries(group, states, evidence, memory);
    return unexplained(evidence).reduce(
      (first, other) => (first === undefined || other.seq < first.seq ? other : first),
      found,
    );
  } catch (error) {
    if (error instanceof RangeError) return { seq: range.from, what: 'impossible_change' };
    throw error;
  }
}

/** What is stored of an instance beside the entries. What a change explains is taken out. */
interface Evidence {
  /** The instance's row. */
  readonly row: FoldedState;
  /** Its last change in the index, 0 for none. */
  readonly lastSeq: number;
  /** Entries of the range that the index of changes has for it. */
  readonly indexed: Set<number>;
  /** Its kept states in the range, by `seq`. */
  readonly kept: Map<number, FoldedState>;
}

interface EvidenceRow {
  readonly state: JsonObject | null;
  readonly revision: number | null;
  readonly last_seq: number | null;
  readonly indexed: number[];
  readonly kept: (FoldedState & { readonly seq: number })[];
}

/** By change key. */
async function readEvidence(
  db: Db,
  deploymentId: number,
  { names }: EntryGroup,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<Map<string, Evidence>> {
  const { rows } = await sql<EvidenceRow>`
    select i.state, i.revision,
      (select max(c.seq) from instance_changes c where c.deployment_id = ${deploymentId}
        and c.entity_schema = n.entity_schema and c.instance_id = n.instance_id) as last_seq,
      (select coalesce(jsonb_agg(c.seq), '[]') from instance_changes c where c.deployment_id = ${deploymentId}
        and c.entity_schema = n.entity_schema and c.instance_id = n.instance_id
        and c.seq between ${from} and ${to}) as indexed,
      (select coalesce(json_agg(json_build_object('seq', k.seq, 'revision', k.revision, 'state', k.state)), '[]')
        from kept_states k where k.deployment_id = ${deploymentId} and k.entity_schema = n.entity_schema
        and k.instance_id = n.instance_id and k.seq between ${from} and ${to}) as kept
    from ${named([...names.values()])}
    left join instances i on i.deployment_id = ${deploymentId}
      and i.entity_schema = n.entity_schema and i.instance_id = n.instance_id
    order by n.position`.execute(db);
  const keys = [...names.keys()];
  return new Map(
    rows.map(({ state, revision, last_seq, indexed, kept }, index) => [
      keys[index] ?? '',
      {
        row: { state, revision: revision ?? 0 },
        lastSeq: last_seq ?? 0,
        indexed: new Set(indexed),
        kept: new Map(kept.map((one) => [one.seq, one])),
      },
    ]),
  );
}

/** Index rows and kept states of entries that do not change the instance. */
function unexplained(evidence: ReadonlyMap<string, Evidence>): Divergence[] {
  const all = [...evidence];
  return [
    ...all.flatMap(([instance, { indexed }]) =>
      [...indexed].map((seq) => ({ seq, instance, what: 'change_index_differs' as const })),
    ),
    ...all.flatMap(([instance, { kept }]) =>
      [...kept.keys()].map((seq) => ({ seq, instance, what: 'kept_state_differs' as const })),
    ),
  ];
}

const FOLDED_AT_ONCE = 100;

async function statesBefore(
  db: Db,
  deploymentId: number,
  group: EntryGroup,
  seq: number,
  memory: FoldMemory,
): Promise<Map<string, FoldedState>> {
  const states = new Map<string, FoldedState>();
  const missing: [string, InstanceName][] = [];
  for (const [key, name] of group.names) {
    const remembered = memory.get(key);
    if (remembered === undefined) missing.push([key, name]);
    else states.set(key, remembered);
  }
  for (let start = 0; start < missing.length; start += FOLDED_AT_ONCE) {
    const part = missing.slice(start, start + FOLDED_AT_ONCE);
    const names = part.map(([, name]) => name);
    const past = await pastStates(db, deploymentId, names, seq);
    for (const [index, [key]] of part.entries()) states.set(key, past[index] ?? ABSENT);
  }
  return states;
}

const ABSENT: FoldedState = { state: null, revision: 0 };

function foldEntries(
  group: EntryGroup,
  states: Map<string, FoldedState>,
  evidence: ReadonlyMap<string, Evidence>,
  memory: FoldMemory,
): Divergence | undefined {
  for (const { entry } of group.entries) {
    for (const change of entry.changes) {
      const key = changeKey(change);
      const checked = checkFold(states.get(key) ?? ABSENT, change, entry.seq, evidence.get(key));
      if ('what' in checked) return { seq: entry.seq, what: checked.what, instance: key };
      states.set(key, checked.after);
      memory.set(key, checked.after);
    }
  }
  return undefined;
}

function checkFold(
  before: FoldedState,
  change: InstanceChange,
  seq: number,
  evidence: Evidence | undefined,
): { after: FoldedState } | { what: Divergence['what'] } {
  const after = folded(before, change);
  if (after === undefined) return { what: 'impossible_change' };
  if (evidence?.indexed.delete(seq) !== true) return { what: 'change_index_differs' };
  // A state is kept exactly where one belongs, with the state of the fold.
  const keptState = evidence.kept.get(seq);
  evidence.kept.delete(seq);
  const isRight = hasKeptState(change) ? keptState && same(keptState, after) : keptState === undefined;
  if (!isRight) return { what: 'kept_state_differs' };
  const isLast = evidence.lastSeq === seq;
  return isLast && !same(evidence.row, after) ? { what: 'instance_differs' } : { after };
}

function folded({ state, revision }: FoldedState, change: InstanceChange): FoldedState | undefined {
  if (change.revision !== (state === null ? 0 : revision) + 1) return undefined;
  try {
    return { state: foldChange(state, change), revision: change.revision };
  } catch {
    return undefined;
  }
}

/** A deleted instance has no revision any more. */
export const same = (a: FoldedState, b: FoldedState): boolean =>
  a.state === null || b.state === null
    ? a.state === b.state
    : a.revision === b.revision && sameJson(a.state, b.state);
