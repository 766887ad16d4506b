import { useEffect, useRef } from 'preact/hooks';
import { Address, Name } from '../ui/parts.js';
import type { Offer } from '../wallets/payer.js';

/** Networks that have a name that people know. */
const NETWORKS: Readonly<Record<string, string>> = {
  'eip155:1': 'Ethereum',
  'eip155:8453': 'Base',
  'eip155:84532': 'Base Sepolia, a test network',
  'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp': 'Solana',
  'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1': 'Solana devnet, a test network',
};
/** Of the dollar assets of x402. */
const DECIMALS = 6;

/** What exactly is paid, before the wallet is asked: an answer of the server may ask for anything. */
export function OfferDialog({ offer, onAnswer }: { offer: Offer; onAnswer: (isPaid: boolean) => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const isPaid = useRef(false);
  useEffect(() => dialog.current?.showModal(), []);
  const { amount, asset, assetName, network, payTo } = offer;
  return (
    <dialog ref={dialog} aria-labelledby="offer" onClose={() => onAnswer(isPaid.current)}>
      <h2 id="offer">Pay for this?</h2>
      <dl>
        <div>
          <dt>Amount</dt>
          <dd>
            <b>{amountText(amount)}</b> <Name>{assetName}</Name>
            <span class="muted"> ({amount} units of the asset)</span>
          </dd>
        </div>
        <div>
          <dt>Asset</dt>
          <dd>
            <Address of={asset} />
          </dd>
        </div>
        <div>
          <dt>To</dt>
          <dd>
            <Address of={payTo} />
          </dd>
        </div>
        <div>
          <dt>Network</dt>
          <dd>{NETWORKS[network] ?? network}</dd>
        </div>
      </dl>
      <p class="muted">
        Your wallet asks next. It signs a transfer of this amount, which takes effect only if the event
        succeeds.
      </p>
      <form method="dialog" class="buttons">
        <button
          type="submit"
          class="play"
          onClick={() => {
            isPaid.current = true;
          }}
        >
          Go on to my wallet
        </button>
        <button type="submit">Do not pay</button>
      </form>
    </dialog>
  );
}

/** As dollars, where the asset has as many digits as dollar assets have; the units beside it are exact. */
function amountText(amount: string): string {
  const digits = amount.padStart(DECIMALS + 1, '0');
  const cents = digits.slice(-DECIMALS).replace(/0{1,4}$/, '');
  return `${digits.slice(0, -DECIMALS)}.${cents}`;
}
