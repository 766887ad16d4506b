import { Emblem } from '../ui/emblem.js';
import { Name, numberText } from '../ui/parts.js';
import type { Connection, OpenWorld } from '../world/follow-world.js';

/** Characters beyond which a name is written smaller. */
const LONG_NAME = 60;

/** What the world is, and whether the page hears of it. */
export function Header({ world }: { world: OpenWorld }) {
  const { deployment, connection, seq } = world;
  const { name, description, world: of, totals, lockedAt, isPaused } = deployment;
  const words = description ?? of?.description ?? undefined;
  return (
    <header class="hero">
      <Emblem address={deployment.address} beat={seq} />
      <div class="title">
        {of !== null && of.name !== name && (
          <p class="world">
            <Name>{of.name}</Name>
          </p>
        )}
        <h1 dir="auto" class={name.length > LONG_NAME ? 'long' : ''}>
          {name}
        </h1>
        {words !== undefined && (
          <p class="lead" dir="auto">
            {words}
          </p>
        )}
        <ul class="facts">
          <li>
            <ConnectionBadge connection={connection} seq={seq} />
          </li>
          <li>{numberText(Math.max(seq, 0))} moments</li>
          <li>
            {numberText(totals.instances)} {totals.instances === 1 ? 'entity' : 'entities'}
          </li>
          {isPaused && <li class="badge">paused</li>}
          {lockedAt !== null && (
            <li class="badge" title={`Its rules cannot change since ${lockedAt}.`}>
              rules locked
            </li>
          )}
          {(of?.domainTags ?? []).slice(0, 5).map((tag) => (
            <li key={tag} class="tag">
              <Name>{tag}</Name>
            </li>
          ))}
        </ul>
      </div>
    </header>
  );
}

const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

function ConnectionBadge({ connection, seq }: { connection: Connection; seq: number }) {
  switch (connection.state) {
    case 'live':
      return <span class="live on">live</span>;
    case 'opening':
      return <span class="live">connecting</span>;
    case 'hidden':
      return <span class="live">resting</span>;
    case 'closed':
      return <span class="live">closed</span>;
    case 'past':
      return <span class="live">moment {numberText(seq)}</span>;
    case 'lost':
      return (
        <span class="live lost" role="status">
          reconnecting since {CLOCK.format(connection.since)}
          {connection.why !== undefined && `: ${connection.why}`}
        </span>
      );
  }
}
