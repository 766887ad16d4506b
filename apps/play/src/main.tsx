import './style.css';
import { render } from 'preact';
import { NoWorld } from './page/no-world.js';
import { PlayerPage, prepareToPlay } from './page/player-page.js';
import { openWorld } from './world/follow-world.js';
import { placeOf } from './world/place.js';

const root = document.getElementById('page');
const place = placeOf(location);

if (place.deployment !== undefined && !place.isEmbedded) prepareToPlay();
if (root !== null) {
  root.replaceChildren();
  const { deployment, seq } = place;
  render(
    deployment === undefined ? <NoWorld /> : <PlayerPage store={openWorld(deployment, seq)} place={place} />,
    root,
  );
}
