import type { JsonObject } from '@orrery/sdk';
import { useEffect, useState } from 'preact/hooks';
import { Notice, numberText } from '../ui/parts.js';
import { keptWallet, makeWallet } from '../wallets/made-wallet.js';
import { WalletPanel } from '../wallets/wallet-panel.js';
import type { PlayerWallet } from '../wallets/wallets.js';
import type { OpenWorld } from '../world/follow-world.js';
import type { PublicEvent } from '../world/records.js';
import { type Asked, createAsking } from './asking.js';
import { type Attempt, createAttempt } from './attempt.js';
import { EventCard } from './event-card.js';
import { OfferDialog } from './offer-dialog.js';

interface PlayProps {
  readonly world: OpenWorld;
  /** Told whether a play is under way or of unknown outcome: what shows it has to stay. */
  readonly onHeld: (isHeld: boolean) => void;
  readonly onMoment: (seq: number) => void;
}

/** The events that anyone may play, and the wallet that plays them. */
export default function PlaySection({ world, onHeld, onMoment }: PlayProps) {
  const [wallet, setWallet] = useState<PlayerWallet>();
  const [asked, setAsked] = useState<Asked>();
  const [ask] = useState(() => createAsking(setAsked));
  const { address, isPaused } = world.deployment;
  const { events, hold } = useEvents(world.deployment.events, onHeld);
  useEffect(() => {
    keptWallet().then(
      (kept) => kept && setWallet((now) => now ?? { kind: 'made', address: kept.address, by: kept }),
      () => undefined,
    );
  }, []);
  /** Without a choice of the player: a wallet that pays where something is paid, else one that is made on the spot. */
  const begin = async (
    event: PublicEvent,
    input: JsonObject,
    onAwaitingPayment: () => void,
  ): Promise<Attempt> => {
    const paying = event.priceUsd > 0 ? await loadPayers() : undefined;
    const player = wallet ?? (await (paying?.connectPaying ?? made)());
    if (wallet === undefined) setWallet(player);
    const payers = paying?.payersOf(player, event, (offer) => ask(event.event, offer));
    return createAttempt({
      ...{ deployment: address, event: event.event, input, wallet: player, onAwaitingPayment },
      ...{ payer: payers?.payer, caller: payers?.caller },
    });
  };
  return (
    <section class="card play" aria-labelledby="play">
      <h2 id="play">Play</h2>
      {events.length === 0 && (
        <p class="empty">Nothing here is open to players. You can watch, and verify.</p>
      )}
      {isPaused && events.length > 0 && (
        <Notice tone="warn">This world is paused. Nothing can be played until it goes on.</Notice>
      )}
      {events.length > 0 && <WalletPanel wallet={wallet} onChange={setWallet} />}
      {events.length > 5 && <p class="muted">{numberText(events.length)} events</p>}
      {events.map((event, at) => (
        <EventCard
          key={event.event}
          event={event}
          world={world}
          isOpen={at === 0}
          begin={begin}
          onHeld={hold}
          onMoment={onMoment}
        />
      ))}
      {asked !== undefined && <OfferDialog key={asked.id} {...asked} />}
    </section>
  );
}

/** The events that are open to players, and those that are not any more while one of their plays is under way or unknown. */
function useEvents(open: readonly PublicEvent[], onHeld: (isHeld: boolean) => void) {
  const [held, setHeld] = useState<ReadonlyMap<string, PublicEvent>>(new Map());
  const hold = (event: PublicEvent, isHeld: boolean) =>
    setHeld((now) => {
      if (!isHeld && !now.has(event.event)) return now;
      const others = [...now].filter(([name]) => name !== event.event);
      return new Map(isHeld ? [...others, [event.event, event]] : others);
    });
  useEffect(() => onHeld(held.size > 0), [held.size > 0]);
  const names = new Set(open.map(({ event }) => event));
  const closed = [...held.values()].filter(({ event }) => !names.has(event));
  return { events: [...open, ...closed], hold };
}

/** What pays is loaded by who pays. @throws Error in words */
const loadPayers = () =>
  import('./payers.js').catch((cause: unknown) => {
    throw new Error('The part that pays did not load. Open the page again to pay. Nothing was done.', {
      cause,
    });
  });

const made = async (): Promise<PlayerWallet> => {
  const by = await makeWallet();
  return { kind: 'made', address: by.address, by };
};
