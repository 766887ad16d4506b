import { useState } from 'preact/hooks';
import { Address, Name, Time } from '../ui/parts.js';
import type { OpenWorld, WorldStore } from '../world/follow-world.js';
import { pathTo } from '../world/place.js';
import type { Entry } from '../world/records.js';
import { type Doer, type Piece, sentenceOf } from './sentences.js';

interface JournalProps {
  readonly world: OpenWorld;
  readonly store: WorldStore;
  readonly isEmbedded: boolean;
  readonly onMoment: (seq: number) => void;
}

/** What happened, newest first, in sentences. Each has the address of its moment. */
export function Journal({ world, store, isEmbedded, onMoment }: JournalProps) {
  const [isReading, setReading] = useState(false);
  const { entries, deployment, hasEarlier } = world;
  const readEarlier = () => {
    setReading(true);
    store
      .readEarlier()
      .catch(() => undefined)
      .finally(() => setReading(false));
  };
  return (
    <section class="card" aria-labelledby="journal">
      <h2 id="journal">What happened</h2>
      {entries.length === 0 && <p class="empty">Nothing has happened here yet.</p>}
      <ol class="journal">
        {entries.map((entry) => (
          <li key={entry.seq} class={entry.status === 'failed' ? 'entry failed' : 'entry'}>
            <EntryText entry={entry} />
            <span class="when">
              <Time at={entry.executedAt} />
              {' · '}
              <a
                href={pathTo(deployment.address, entry.seq, isEmbedded)}
                title="The world right after this"
                onClick={(event) => {
                  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
                  event.preventDefault();
                  onMoment(entry.seq);
                }}
              >
                moment {entry.seq}
              </a>
            </span>
          </li>
        ))}
      </ol>
      {hasEarlier && (
        <button type="button" class="quiet" disabled={isReading} onClick={readEarlier}>
          {isReading ? 'Reading…' : 'What happened before'}
        </button>
      )}
    </section>
  );
}

/** An entry as a sentence with what became of it; `isBare`: only that. */
export function EntryText({ entry, isBare = false }: { entry: Entry; isBare?: boolean }) {
  const { who, did, effects, more, quote, failure } = sentenceOf(entry);
  return (
    <>
      {!isBare && (
        <p>
          <Who of={who} /> <Pieces of={did} />
          {failure === undefined ? '.' : ': '}
          {failure !== undefined && <span class="failure">{failure}</span>}
        </p>
      )}
      {quote !== undefined && (
        <q dir="auto" class="quote">
          {quote}
        </q>
      )}
      {effects.length > 0 && (
        <ul class="effects">
          {effects.map((effect, at) => (
            // The effects of an entry never change.
            <li key={at}>
              <Pieces of={effect} />
            </li>
          ))}
          {more > 0 && <li>and {more} more</li>}
        </ul>
      )}
    </>
  );
}

const Who = ({ of: doer }: { of: Doer }) =>
  'wallet' in doer ? <Address of={doer.wallet} /> : <b class="who">{doer.word}</b>;

const Pieces = ({ of: pieces }: { of: readonly Piece[] }) => (
  <>
    {pieces.map((piece) =>
      typeof piece === 'string' ? (
        piece
      ) : 'name' in piece ? (
        <b>
          <Name>{piece.name}</Name>
        </b>
      ) : (
        <span class="value">
          <bdi>{piece.value}</bdi>
        </span>
      ),
    )}
  </>
);
