import { useEffect, useState } from 'preact/hooks';
import { Notice, numberText } from '../ui/parts.js';
import { keptWallet, makeWallet } from '../wallets/made-wallet.js';
import { ethereumWay } from '../wallets/pay-on-evm.js';
import { solanaWay } from '../wallets/pay-on-solana.js';
import { createPayer, type Offer, type Way } from '../wallets/payer.js';
import { canSignTransactions } from '../wallets/standard-wallets.js';
import { WalletPanel } from '../wallets/wallet-panel.js';
import { connectEthereum, connectSolana, injected, type PlayerWallet } from '../wallets/wallets.js';
import type { OpenWorld } from '../world/follow-world.js';
import type { PublicEvent } from '../world/records.js';
import { type Attempt, createAttempt } from './attempt.js';
import { EventCard } from './event-card.js';
import { OfferDialog } from './offer-dialog.js';

interface PlayProps {
  readonly world: OpenWorld;
  readonly onMoment: (seq: number) => void;
}

interface Asked {
  readonly offer: Offer;
  readonly answer: (isPaid: boolean) => void;
}

/** The events that anyone may play, and the wallet that plays them. */
export default function PlaySection({ world, onMoment }: PlayProps) {
  const [wallet, setWallet] = useState<PlayerWallet>();
  const [asked, setAsked] = useState<Asked>();
  const { events, address, isPaused } = world.deployment;
  useEffect(() => {
    keptWallet().then(
      (kept) => kept && setWallet((now) => now ?? { kind: 'made', address: kept.address, by: kept }),
      () => undefined,
    );
  }, []);
  const confirm = (offer: Offer) =>
    new Promise<boolean>((resolve) => {
      const answer = (isPaid: boolean) => {
        setAsked(undefined);
        resolve(isPaid);
      };
      setAsked({ offer, answer });
    });
  /** Without a choice of the player: a wallet that pays where something is paid, else one that is made on the spot. */
  const walletFor = async ({ priceUsd }: PublicEvent): Promise<PlayerWallet> => {
    if (wallet !== undefined) return wallet;
    const chosen = priceUsd > 0 ? await connectPaying() : await made();
    setWallet(chosen);
    return chosen;
  };
  const begin = async (
    event: PublicEvent,
    input: Record<string, unknown>,
    onAwaitingPayment: () => void,
  ): Promise<Attempt> => {
    const isPaid = event.priceUsd > 0;
    if (isPaid && !canPay())
      throw new Error(
        'This event has a price. To pay it, open this page in a browser with an Ethereum or a Solana wallet.',
      );
    const player = await walletFor(event);
    const isCalledByPayer = isPaid && event.payerMayCall && player.kind === 'ethereum';
    return createAttempt({
      deployment: address,
      event: event.event,
      input,
      wallet: isCalledByPayer ? undefined : player,
      payer: isPaid ? createPayer(waysOf(player), confirm) : undefined,
      onAwaitingPayment,
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
          onMoment={onMoment}
        />
      ))}
      {asked !== undefined && <OfferDialog offer={asked.offer} onAnswer={asked.answer} />}
    </section>
  );
}

const canPay = (): boolean => injected().ethereum !== undefined || canSignTransactions();
const connectPaying = (): Promise<PlayerWallet> =>
  injected().ethereum === undefined ? connectSolana() : connectEthereum();

/** How the wallets of this browser pay, that of the player first. */
function waysOf({ kind, address }: PlayerWallet): Way[] {
  const { ethereum } = injected();
  const onEvm = ethereum === undefined ? [] : [ethereumWay(ethereum)];
  const onSolana = canSignTransactions() ? [solanaWay(kind === 'solana' ? address : undefined)] : [];
  return kind === 'solana' ? [...onSolana, ...onEvm] : [...onEvm, ...onSolana];
}

const made = async (): Promise<PlayerWallet> => {
  const by = await makeWallet();
  return { kind: 'made', address: by.address, by };
};
