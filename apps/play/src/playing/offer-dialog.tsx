import { useEffect, useRef } from 'preact/hooks';
import { Address, amountText, Name } from '../ui/parts.js';
import type { Asked } from './asking.js';

/** Networks that have a name that people know. */
const NETWORKS: Readonly<Record<string, string>> = {
  'eip155:1': 'Ethereum',
  'eip155:8453': 'Base',
  'eip155:84532': 'Base Sepolia, a test network',
  'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp': 'Solana',
  'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1': 'Solana devnet, a test network',
};

/** What exactly is paid, before the wallet is asked: an answer of the server may ask for anything. */
export function OfferDialog({ event, offer, answer }: Omit<Asked, 'id'>) {
  const dialog = useRef<HTMLDialogElement>(null);
  const isPaid = useRef(false);
  useEffect(() => dialog.current?.showModal(), []);
  const { amount, decimals, asset, assetName, network, payTo, payer } = offer;
  return (
    <dialog ref={dialog} aria-labelledby="offer" onClose={() => answer(isPaid.current)}>
      <h2 id="offer">Pay for this?</h2>
      <dl>
        <div>
          <dt>Event</dt>
          <dd>
            <Name>{event}</Name>
          </dd>
        </div>
        <div>
          <dt>Amount</dt>
          <dd>
            <b>{amountText(amount, decimals)}</b> <Name>{assetName}</Name>
            <span class="muted">
              {decimals === undefined
                ? ', in the smallest unit of the asset: your wallet may say how much that is'
                : ` (${amount} units of the asset)`}
            </span>
          </dd>
        </div>
        <div>
          <dt>From</dt>
          <dd>
            <Address of={payer} />
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
