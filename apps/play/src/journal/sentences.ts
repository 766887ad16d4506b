import { shortened, valueText } from '../ui/parts.js';
import type { Change, Entry } from '../world/records.js';

/** A piece of a sentence: words of ours, or a name or value that somebody else has written. */
export type Piece = string | { readonly name: string } | { readonly value: string };

/** An entry of the journal, told to a person. */
export interface Sentence {
  readonly who: Doer;
  /** What was done, after who did it. */
  readonly did: readonly Piece[];
  /** What became of instances, one list of pieces each. */
  readonly effects: readonly (readonly Piece[])[];
  /** How many more instances changed. */
  readonly more: number;
  /** A text of the result. */
  readonly quote: string | undefined;
  /** Why it failed. */
  readonly failure: string | undefined;
}

/** Who has done it: a wallet, or a word for what else there is. */
export type Doer = { readonly wallet: string } | { readonly word: string };

const MOST_EFFECTS = 3;
const MOST_ATTRIBUTES = 4;

const KINDS: Record<Exclude<Entry['kind'], 'execution'>, readonly Piece[]> = {
  deployment_created: ['began this world'],
  settings_updated: ['changed settings of this world'],
  bindings_added: ['added events'],
  bindings_updated: ['changed what events do'],
  binding_removed: ['took an event away'],
  instance_created: ['added by hand'],
  instance_updated: ['changed by hand'],
  instance_deleted: ['removed by hand'],
  locked: ['locked this world: its rules cannot change any more'],
  paused: ['paused this world'],
  resumed: ['let this world go on'],
  published: ['opened this world to everybody'],
  unpublished: ['closed this world'],
  timer_set: ['set an event for later'],
  timer_cancelled: ['called off an event that was to come'],
  randomness_committed: ['sealed the secret that the dice are thrown with'],
  randomness_revealed: ['revealed the secret that the dice were thrown with'],
  deleted: ['deleted this world'],
  tail_lost: ['lost the latest entries, after a fault of the database'],
};

export function sentenceOf(entry: Entry): Sentence {
  const { kind, event, changes, status, error, result } = entry;
  const did = kind === 'execution' ? playedOf(event ?? '', status) : KINDS[kind];
  return {
    who: kind === 'tail_lost' ? { word: 'The server' } : doerOf(entry),
    did,
    effects: changes.slice(0, MOST_EFFECTS).map(effectOf),
    more: Math.max(0, changes.length - MOST_EFFECTS),
    quote: quoteIn(result),
    failure: status === 'failed' ? (error?.detail ?? 'It failed.') : undefined,
  };
}

const playedOf = (event: string, status: Entry['status']): readonly Piece[] =>
  status === 'failed' ? ['tried', ' ', { name: event }, ', in vain'] : ['played', ' ', { name: event }];

export function doerOf({ caller, trigger }: Pick<Entry, 'caller' | 'trigger'>): Doer {
  if (trigger === 'timer') return { word: 'A timer' };
  if (trigger === 'cron') return { word: 'The schedule' };
  const [kind = '', name = ''] = caller.split(/:(.*)/s);
  if (kind === 'wallet') return { wallet: name };
  return { word: kind === 'account' ? 'The owner' : 'The server' };
}

export function effectOf({ op, instanceId, set, unset, entitySchema }: Change): readonly Piece[] {
  const instance = { name: instanceId };
  if (op === 'delete') return [instance, ' is gone'];
  const values = Object.entries(set).slice(0, MOST_ATTRIBUTES);
  const rest = Object.keys(set).length - values.length;
  const told = values.flatMap(([name, value], at): Piece[] => [
    at === 0 ? '' : ', ',
    { name },
    ' ',
    { value: valueText(value) },
  ]);
  const removed = unset.flatMap((name): Piece[] => [', without ', { name }]);
  const more = rest > 0 ? [` and ${rest} more`] : [];
  const begin: readonly Piece[] =
    op === 'create' ? [instance, ' joins ', { name: entitySchema }] : [instance];
  return [...begin, ...(told.length > 0 ? [': ', ...told.slice(1)] : []), ...more, ...removed];
}

const MOST_QUOTED = 200;

/** A text that the result has, such as a headline. */
export function quoteIn(result: unknown): string | undefined {
  const texts: unknown[] = typeof result === 'object' && result !== null ? Object.values(result) : [result];
  const text = texts.find((one): one is string => typeof one === 'string' && one.trim() !== '');
  return text === undefined || text.length <= MOST_QUOTED ? text : `${text.slice(0, MOST_QUOTED)}…`;
}

/** The sentence as plain text, for titles and tests. */
export function plainText(entry: Entry): string {
  const { who, did, effects, more, quote, failure } = sentenceOf(entry);
  const text = (pieces: readonly Piece[]) => pieces.map(pieceText).join('');
  const name = 'word' in who ? who.word : shortened(who.wallet);
  const others = more > 0 ? [`and ${more} more`] : [];
  const after = [quote && `“${quote}”`, failure, ...effects.map(text), ...others].filter(Boolean);
  return [`${name} ${text(did)}`, ...after].join(' · ');
}

const pieceText = (piece: Piece): string =>
  typeof piece === 'string' ? piece : 'name' in piece ? piece.name : piece.value;
