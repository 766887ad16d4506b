import type { catalogContract, ReplyOf, RequestOf } from '@orrery/contracts';
import { createBatcher } from '../lanes/batcher.js';

type ConfirmRpc = (typeof catalogContract.rpcs)['definitions.confirm'];
type Request = RequestOf<ConfirmRpc>;
type Reply = ReplyOf<ConfirmRpc>;
type Kind = 'versions' | 'schemas' | 'worlds';
type ItemOf<K extends Kind> = Request[K][number];
type AnswerOf<K extends Kind> = Reply[K][number];
type Question = { [K in Kind]: { kind: K; item: ItemOf<K> } }[Kind];

/** Is what I remember still so? `same`, `changed` with what it is now, or `gone`. */
export type Confirm = <K extends Kind>(kind: K, item: ItemOf<K>) => Promise<AnswerOf<K>>;

/** Questions that share a call at most; each kind has its own bound in the contract. */
const AT_ONCE = 1000;

/** Equal for equal questions alone: what may be any text stands last. */
function keyOf({ kind, item }: Question): string {
  if (kind === 'versions') return `${kind} ${item.versionId} ${item.hash}`;
  if (kind === 'schemas') return `${kind} ${item.worldId} ${item.hash} ${item.name}`;
  return `${kind} ${item.worldId} ${item.hash}`;
}

/**
 * Freshness for one call per batch: a question joins the next call that has not been sent yet, and equal questions are
 * asked once. So an answer is never older than its question, which is what a run may rely on. A call waits for `ready`.
 */
export function createConfirm(
  ask: (request: Request) => Promise<Reply>,
  ready?: () => Promise<void> | undefined,
): Confirm {
  const askTogether = async (questions: readonly Question[]) => {
    const request = { versions: [], schemas: [], worlds: [] } as { [K in Kind]: ItemOf<Kind>[] };
    const places = new Map<string, number>();
    const indexes = questions.map((question) => {
      const key = keyOf(question);
      const asked = places.get(key);
      if (asked !== undefined) return asked;
      const place = request[question.kind].push(question.item) - 1;
      places.set(key, place);
      return place;
    });
    const reply = await ask(request as Request);
    // Answers are in item order, and every question has its place.
    return questions.map(({ kind }, index) => reply[kind][indexes[index] as number] as AnswerOf<Kind>);
  };
  const batcher = createBatcher<Question, AnswerOf<Kind>>(AT_ONCE, askTogether, ready);
  return ((kind: Kind, item: never) => batcher({ kind, item })) as Confirm;
}
