import { type ComponentType, Fragment } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Journal } from '../journal/journal.js';
import { StateSection } from '../state/state-section.js';
import { hueOf, Notice } from '../ui/parts.js';
import { VerifySection } from '../verify/verify-section.js';
import type { OpenWorld, World, WorldStore } from '../world/follow-world.js';
import { type Place, pathTo, placeOf } from '../world/place.js';
import { Header } from './header.js';
import { Moments } from './moments.js';
import { NoWorld, Opening } from './no-world.js';
import { Share } from './share.js';

interface PageProps {
  readonly store: WorldStore;
  readonly place: Place;
}

/** The page of a world, whatever has become of it. */
export function PlayerPage({ store, place }: PageProps) {
  const world = useWorld(store);
  const [isHeld, setHeld] = useState(false);
  const deployment = place.deployment ?? '';
  // Once it has stayed for a play, what became of that can be read until the page is left.
  const hasStayed = useRef(false);
  switch (world.kind) {
    case 'opening':
      return <Opening since={world.since} />;
    case 'refused':
      return <NoWorld deployment={deployment} code={world.code} detail={world.detail} />;
    case 'open':
      if (isClosed(world) && isHeld) hasStayed.current = true;
      if (isClosed(world) && !hasStayed.current)
        return <NoWorld deployment={deployment} code="deployment_not_found" />;
      return <WorldPage store={store} world={world} place={place} onHeld={setHeld} />;
  }
}

const isClosed = ({ connection }: OpenWorld): boolean => connection.state === 'closed';

function useWorld(store: WorldStore): World {
  const [world, setWorld] = useState(store.current);
  useEffect(() => {
    setWorld(store.current());
    return store.subscribe(() => setWorld(store.current()));
  }, [store]);
  return world;
}

type WorldProps = PageProps & Pick<PlayingProps, 'world' | 'onHeld'>;

function WorldPage({ store, world, place, onHeld }: WorldProps) {
  const { deployment, moment } = world;
  const { address, name } = deployment;
  const { isEmbedded } = place;
  const [asked, setAsked] = useState(place.seq);
  const isStepping = useRef(false);
  useEffect(() => {
    document.documentElement.style.setProperty('--hue', String(hueOf(address)));
    document.title = `${name} · Orrery`;
  }, [address, name]);
  useEffect(() => {
    const back = () => {
      const { seq } = placeOf(location);
      isStepping.current = false;
      setAsked(seq);
      store.show(seq);
    };
    addEventListener('popstate', back);
    return () => removeEventListener('popstate', back);
  }, [store]);
  /** Steps of the slider, one after the other, are one entry of the browser's history. */
  const go = (seq: number | undefined, isStep = false) => {
    const path = pathTo(address, seq, isEmbedded);
    if (isStep && isStepping.current) history.replaceState(null, '', path);
    else history.pushState(null, '', path);
    isStepping.current = isStep;
    setAsked(seq);
    store.show(seq);
  };
  return (
    <Fragment>
      <Header world={world} />
      <main class={isEmbedded ? 'embedded' : ''}>
        <div class="column">
          {isClosed(world) && (
            <Notice tone="warn">
              This world is not open any more. It stays here as it was, until you know what became of your
              play.
            </Notice>
          )}
          <Moments world={world} asked={asked} onMoment={go} />
          <StateSection world={world} store={store} />
        </div>
        <div class="column">
          {!isEmbedded && (
            // What was typed stays while one looks at the past.
            <div hidden={moment !== undefined}>
              <Playing world={world} onHeld={onHeld} onMoment={go} />
            </div>
          )}
          <Journal world={world} store={store} isEmbedded={isEmbedded} onMoment={go} />
          {!isEmbedded && <VerifySection deployment={deployment} />}
          {!isEmbedded && <Share world={world} />}
        </div>
      </main>
      <footer>
        {isEmbedded ? (
          <a href={pathTo(address)} target="_blank" rel="noopener noreferrer">
            Play in this world
          </a>
        ) : (
          <p>
            What names and texts here say was written by the owner of this world and by players. <br />
            Run by <a href="/docs">Orrery</a>, where every history can be checked. <code>{address}</code>
          </p>
        )}
      </footer>
    </Fragment>
  );
}

interface PlayingProps {
  readonly world: OpenWorld;
  /** Told whether a play is under way, or nobody knows what became of it. */
  readonly onHeld: (isHeld: boolean) => void;
  readonly onMoment: (seq: number | undefined) => void;
}

const loadSection = () => import('../playing/play-section.js');

/** Loads the forms while the world is read. */
export const prepareToPlay = (): void => void loadSection().catch(() => undefined);

/** Forms, wallets and payments come after what one sees first; a frame never loads them. */
function Playing(props: PlayingProps) {
  const [Section, setSection] = useState<ComponentType<PlayingProps>>();
  const [isLost, setLost] = useState(false);
  useEffect(() => {
    loadSection().then(
      (loaded) => setSection(() => loaded.default as ComponentType<PlayingProps>),
      () => setLost(true),
    );
  }, []);
  return Section === undefined ? (
    <section class="card play" aria-labelledby="play">
      <h2 id="play">Play</h2>
      <p class="empty">{isLost ? 'This part did not load. Open the page again to play.' : 'Loading…'}</p>
    </section>
  ) : (
    <Section {...props} />
  );
}
