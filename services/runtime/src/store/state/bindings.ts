import type { JsonObject, VersionDefinition } from '@orrery/contracts';
import { jsonb } from '@orrery/database';
import type { Db, RuntimeSchema, Trx } from '../tables/schema.js';
import type { Binding } from './deployment-state.js';

/** The table has a deployment's id beside what is in a binding. */
type Column = Exclude<keyof RuntimeSchema['bindings'], 'deployment_id'>;

/**
 * The member of a binding that each column of its table holds. All that reads and writes bindings goes by this list: a
 * member that is not in it would be gone after a restart, so it does not compile.
 */
const BINDING_MEMBERS = {
  id: 'id',
  event: 'event',
  version_id: 'versionId',
  claim_revision: 'claimRevision',
  event_version: 'eventVersion',
  target_chains: 'targetChains',
  onchain: 'onchain',
  created_at: 'createdAt',
  updated_at: 'updatedAt',
} as const satisfies Record<Column, keyof Binding>;

type Members = typeof BINDING_MEMBERS;

/** `never`, or the members that no column holds: with one, this does not compile. */
type Forgotten = Exclude<keyof Binding, Members[Column]>;
const forgotten: [Forgotten] extends [never] ? true : Forgotten = true;
void forgotten;

/** `version_id as versionId`, and so on. */
type BindingSelection = { [C in Column]: `${C} as ${Members[C]}` }[Column];

const columns = Object.entries(BINDING_MEMBERS) as [Column, keyof Binding][];

const BINDING_SELECTION = columns.map(([column, member]) => `${column} as ${member}`) as BindingSelection[];

/** SQL of a JSON object with the members of the binding `b`. */
export const BINDING_OBJECT = `jsonb_build_object(${columns.map(([column, member]) => `'${member}', b.${column}`).join(', ')})`;

/** Columns of a binding that change with it: all but those that say which one it is. */
export const BOUND_COLUMNS = columns
  .map(([column]) => column)
  .filter((column) => column !== 'id' && column !== 'event')
  .join(', ');

/** A binding as a row of its table. */
export const bindingRow = (
  deploymentId: number,
  binding: Binding,
): { deployment_id: number } & { [C in Column]: Binding[Members[C]] } =>
  ({
    deployment_id: deploymentId,
    ...Object.fromEntries(columns.map(([column, member]) => [column, binding[member]])),
  }) as { deployment_id: number } & { [C in Column]: Binding[Members[C]] };

/** A deployment's bindings as they are committed, in order of creation. */
export async function listBindings(db: Db, deploymentId: number): Promise<Binding[]> {
  return db
    .selectFrom('bindings')
    .select(BINDING_SELECTION)
    .where('deployment_id', '=', deploymentId)
    .orderBy('id')
    .execute();
}

/** The bindings that a new deployment begins with. */
export async function insertBindings(
  trx: Trx,
  deploymentId: number,
  bindings: readonly Binding[],
): Promise<void> {
  if (bindings.length === 0) return;
  const rows = bindings.map((binding) => ({
    ...bindingRow(deploymentId, binding),
    target_chains: jsonb(binding.targetChains),
    onchain: binding.onchain && jsonb(binding.onchain),
  }));
  await trx.insertInto('bindings').values(rows).execute();
}

/** A binding about to be made, and its part of the journal entry. */
export interface NewBinding {
  readonly binding: Binding;
  readonly facts: JsonObject;
  /** The version that is bound. */
  readonly definition: VersionDefinition;
}
