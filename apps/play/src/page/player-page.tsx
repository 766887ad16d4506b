import { type ComponentType, Fragment } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Journal } from '../journal/journal.js';
import { StateSection } from '../state/state-section.js';
import { hueOf } from '../ui/parts.js';
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
  switch (world.kind) {
    case 'opening':
      return <Opening since={world.since} />;
    case 'refused':
      return <NoWorld deployment={place.deployment ?? ''} code={world.code} detail={world.detail} />;
    case 'open':
      return <WorldPage store={store} world={world} place={place} />;
  }
}

function useWorld(store: WorldStore): World {
  const [world, setWorld] = useState(store.current);
  useEffect(() => {
    setWorld(store.current());
    return store.subscribe(() => setWorld(store.current()));
  }, [store]);
  return world;
}

function WorldPage({ store, world, place }: PageProps & { world: OpenWorld }) {
  const { deployment, connection } = world;
  const { address, name } = deployment;
  const { isEmbedded } = place;
  const [asked, setAsked] = useState(place.seq);
  useEffect(() => {
    document.documentElement.style.setProperty('--hue', String(hueOf(address)));
    document.title = `${name} · Orrery`;
  }, [address, name]);
  useEffect(() => {
    const back = () => {
      const { seq } = placeOf(location);
      setAsked(seq);
      store.show(seq);
    };
    addEventListener('popstate', back);
    return () => removeEventListener('popstate', back);
  }, [store]);
  const go = (seq: number | undefined) => {
    history.pushState(null, '', pathTo(address, seq, isEmbedded));
    setAsked(seq);
    store.show(seq);
  };
  const isPast = connection.state === 'past';
  return (
    <Fragment>
      <Header world={world} />
      <main class={isEmbedded ? 'embedded' : ''}>
        <div class="column">
          <Moments world={world} asked={asked} onMoment={go} />
          <StateSection world={world} store={store} />
        </div>
        <div class="column">
          {!isEmbedded && (
            // What was typed stays while one looks at the past.
            <div hidden={isPast}>
              <Playing world={world} onMoment={go} />
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

type PlayingProps = { readonly world: OpenWorld; readonly onMoment: (seq: number | undefined) => void };

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
