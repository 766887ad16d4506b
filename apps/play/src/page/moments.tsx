import { useEffect, useState } from 'preact/hooks';
import { numberText, Time } from '../ui/parts.js';
import type { OpenWorld } from '../world/follow-world.js';

interface MomentsProps {
  readonly world: OpenWorld;
  /** The moment that the address names. */
  readonly asked: number | undefined;
  readonly onMoment: (seq: number | undefined) => void;
}

/** The way through time: a slider over all moments, one step back or forth, and back to now. */
export function Moments({ world, asked, onMoment }: MomentsProps) {
  const { seq, last, entries, connection } = world;
  const [held, setHeld] = useState(seq);
  useEffect(() => setHeld(seq), [seq]);
  const isPast = connection.state === 'past';
  const at = entries[0]?.seq === seq ? entries[0].executedAt : undefined;
  if (last === 0) return null;
  return (
    <nav class="card moments" aria-label="Moments">
      {asked !== undefined && asked > last && (
        <p class="notice" role="status">
          Moment {numberText(asked)} has not come yet: the last one is {numberText(last)}.
        </p>
      )}
      <div class="way">
        <button
          type="button"
          aria-label="The moment before"
          disabled={seq <= 1}
          onClick={() => onMoment(seq - 1)}
        >
          ‹
        </button>
        <label class="slider">
          <span class="hidden">Moment</span>
          <input
            type="range"
            min={1}
            max={last}
            value={held}
            aria-valuetext={`moment ${held} of ${last}`}
            onInput={(event) => setHeld(Number(event.currentTarget.value))}
            onChange={(event) => onMoment(Number(event.currentTarget.value))}
          />
        </label>
        <button
          type="button"
          aria-label="The moment after"
          disabled={!isPast || seq >= last}
          onClick={() => onMoment(seq + 1)}
        >
          ›
        </button>
        {isPast && (
          <button type="button" class="play" onClick={() => onMoment(undefined)}>
            Now
          </button>
        )}
      </div>
      <p class="muted">
        {isPast ? 'You look at moment ' : 'Now, after moment '}
        {numberText(held)}
        {isPast ? ` of ${numberText(last)}` : ''}
        {at !== undefined && held === seq && (
          <>
            {', '}
            <Time at={at} />
          </>
        )}
      </p>
    </nav>
  );
}
