import { useState } from 'preact/hooks';
import type { OpenWorld } from '../world/follow-world.js';
import { pathTo } from '../world/place.js';

/** Links to the world and to the moment that is shown, and what another page has to hold to show it. */
export function Share({ world }: { world: OpenWorld }) {
  const { deployment, seq } = world;
  const now = `${location.origin}${pathTo(deployment.address)}`;
  const moment = `${location.origin}${pathTo(deployment.address, seq)}`;
  const frame = `<iframe src="${location.origin}${pathTo(deployment.address, undefined, true)}" width="100%" height="600"></iframe>`;
  const share = () => navigator.share({ title: deployment.name, url: now }).catch(() => undefined);
  return (
    <section class="card share" aria-labelledby="share">
      <h2 id="share">Share</h2>
      <div class="buttons">
        {navigator.share !== undefined && (
          <button type="button" onClick={() => void share()}>
            Share…
          </button>
        )}
        <Copy text={now}>Copy the link</Copy>
        {seq > 0 && <Copy text={moment}>Copy a link to this moment</Copy>}
        <Copy text={frame}>Copy a frame for another page</Copy>
      </div>
    </section>
  );
}

const TOLD_MS = 2500;

function Copy({ text, children }: { text: string; children: string }) {
  const [told, setTold] = useState<string>();
  const tell = (what: string) => {
    setTold(what);
    setTimeout(() => setTold(undefined), TOLD_MS);
  };
  const copy = () => {
    // Pages over plain HTTP have no clipboard.
    const written = navigator.clipboard?.writeText(text) ?? Promise.reject(new Error());
    written.then(
      () => tell('Copied'),
      () => globalThis.prompt('Copy this:', text),
    );
  };
  return (
    <button type="button" class="quiet" onClick={copy}>
      {told ?? children}
    </button>
  );
}
