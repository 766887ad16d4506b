import type { catalogContract, ReplyOf, RequestOf, WorldTexts } from '@orrery/contracts';
import { createBatcher } from '@orrery/service-kit';
import { LRUCache } from 'lru-cache';
import {
  type CompiledDefinition,
  type CompiledSchema,
  compileDefinition,
  compileSchema,
} from '../execution/compiled-definition.js';

type ConfirmRpc = (typeof catalogContract.rpcs)['definitions.confirm'];
type Request = RequestOf<ConfirmRpc>;
type Reply = ReplyOf<ConfirmRpc>;
type Kind = 'versions' | 'schemas' | 'worlds';
type ItemOf<K extends Kind> = Request[K][number];
type AnswerOf<K extends Kind> = Reply[K][number];
/** An item of a request, and the list that it belongs to. */
type KindAndItem = { [K in Kind]: { kind: K; item: ItemOf<K> } }[Kind];

/** Whether the remembered definition is current: `same`, `changed` with the current definition, or `gone`. */
export type Confirm = <K extends Kind>(kind: K, item: ItemOf<K>) => Promise<AnswerOf<K>>;

/** Items that share a call at most; the contract bounds each kind. */
const AT_ONCE = 1000;

/** Different items have different keys: the free text comes last. */
function keyOf({ kind, item }: KindAndItem): string {
  if (kind === 'versions') return `${kind} ${item.versionId} ${item.hash}`;
  if (kind === 'schemas') return `${kind} ${item.worldId} ${item.hash} ${item.name}`;
  return `${kind} ${item.worldId} ${item.hash}`;
}

/**
 * Confirms definitions with one call per batch. An item joins the next call that has not been sent yet, so its answer is
 * never older than the request for it: an execution may rely on it. Each call waits for `ready` first.
 */
export function createConfirm(
  call: (request: Request) => Promise<Reply>,
  ready: () => Promise<void> | undefined = () => undefined,
): Confirm {
  const load = async (items: readonly KindAndItem[]) => {
    const request = { versions: [], schemas: [], worlds: [] } as { [K in Kind]: ItemOf<Kind>[] };
    const indexes = items.map(({ kind, item }) => request[kind].push(item) - 1);
    const reply = await call(request as Request);
    // Answers are in the order of the items, one for each.
    return items.map(({ kind }, index) => reply[kind][indexes[index] as number] as AnswerOf<Kind>);
  };
  const batcher = createBatcher<KindAndItem, AnswerOf<Kind>>({ maxBatch: AT_ONCE, load, keyOf, ready });
  return ((kind: Kind, item: never) => batcher({ kind, item })) as Confirm;
}

/** Compiled definitions in memory at once, of versions and of schemas. */
const MAX_COMPILED = 5000;
/** Texts of worlds in memory at once; a description and a prompt are up to 36 KiB. */
const MAX_WORLDS = 1000;
/** Sent when nothing is remembered, so that the catalog sends the definition. */
const NO_HASH = '';

/** Definitions as they are now: remembered ones are confirmed by their hashes; locked versions never change. */
export function createDefinitions(confirm: Confirm) {
  const versions = new LRUCache<number, CompiledDefinition>({ max: MAX_COMPILED });
  const schemas = new LRUCache<string, CompiledSchema>({ max: MAX_COMPILED });
  const worlds = new LRUCache<number, WorldTexts>({ max: MAX_WORLDS });

  return {
    version: async (versionId: number): Promise<CompiledDefinition | undefined> => {
      const known = versions.get(versionId);
      if (known?.definition.isLocked) return known;
      const answer = await confirm('versions', { versionId, hash: known?.definition.hash ?? NO_HASH });
      if (answer.state === 'same') return known;
      versions.delete(versionId);
      if (answer.state === 'gone') return undefined;
      const compiled = compileDefinition(answer.definition);
      versions.set(versionId, compiled);
      return compiled;
    },
    /** `undefined` when the world is gone. */
    world: async (worldId: number): Promise<WorldTexts | undefined> => {
      const known = worlds.get(worldId);
      const answer = await confirm('worlds', { worldId, hash: known?.hash ?? NO_HASH });
      if (answer.state === 'same') return known;
      worlds.delete(worldId);
      if (answer.state === 'gone') return undefined;
      worlds.set(worldId, answer.definition);
      return answer.definition;
    },
    schema: async (worldId: number, name: string): Promise<CompiledSchema | undefined> => {
      const key = `${worldId}:${name}`;
      const known = schemas.get(key);
      const answer = await confirm('schemas', { worldId, name, hash: known?.definition.hash ?? NO_HASH });
      if (answer.state === 'same') return known;
      schemas.delete(key);
      if (answer.state === 'gone') return undefined;
      const compiled = compileSchema(answer.definition);
      schemas.set(key, compiled);
      return compiled;
    },
  };
}
