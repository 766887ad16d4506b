import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { numberText, Time } from '../ui/parts.js';
import type { OpenWorld } from '../world/follow-world.js';

interface MomentsProps {
  readonly world: OpenWorld;
  /** The moment that the address names. */
  readonly asked: number | undefined;
  readonly onMoment: (seq: number | undefined, isStep?: boolean) => void;
}

/** A moment is read when the slider has rested there this long, in milliseconds: a key that is held passes hundreds. */
const REST_MS = 200;

/** Where the slider is: at the moment that is shown, unless it is on its way to another one. */
function useSlider({ seq, moment }: OpenWorld, asked: number | undefined, onRest: (seq: number) => void) {
  const [heading, setHeading] = useState<number>();
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const leave = () => {
    clearTimeout(timer.current);
    timer.current = undefined;
  };
  useEffect(() => {
    // Entries that come meanwhile do not draw it back.
    if (timer.current === undefined) setHeading(undefined);
  }, [seq, moment]);
  // Who goes back in the browser meanwhile wants that moment. Before the next key: it begins another way.
  useLayoutEffect(() => {
    if (timer.current !== undefined) setHeading(undefined);
    leave();
  }, [asked]);
  useEffect(() => leave, []);
  const move = (to: number) => {
    setHeading(to);
    leave();
    timer.current = setTimeout(() => {
      leave();
      onRest(to);
    }, REST_MS);
  };
  return { held: heading ?? seq, move, leave };
}

/** The way through time: a slider over all moments, one step back or forth, and back to now. */
export function Moments({ world, asked, onMoment }: MomentsProps) {
  const { seq, last, entries, moment } = world;
  const slid = useRef(false);
  const { held, move, leave } = useSlider(world, asked, (to) => onMoment(to, slid.current));
  const isPast = moment !== undefined;
  const step = (to: number, isSlid: boolean) => {
    slid.current = isSlid;
    move(to);
  };
  const now = () => {
    leave();
    onMoment(undefined);
  };
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
          disabled={held <= 1}
          onClick={() => step(held - 1, false)}
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
            onInput={(event) => step(Number(event.currentTarget.value), true)}
          />
        </label>
        <button
          type="button"
          aria-label="The moment after"
          disabled={held >= last}
          onClick={() => step(held + 1, false)}
        >
          ›
        </button>
        {isPast && (
          <button type="button" class="play" onClick={now}>
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
