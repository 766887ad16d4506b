import { ethereumWay } from '../wallets/pay-on-evm.js';
import { solanaWay } from '../wallets/pay-on-solana.js';
import { createPayer, type Offer } from '../wallets/payer.js';
import { canSignTransactions } from '../wallets/standard-wallets.js';
import { connectEthereum, connectSolana, injected, type PlayerWallet } from '../wallets/wallets.js';
import type { PublicEvent } from '../world/records.js';

/** @throws Error in words where nothing in this browser can pay */
function requirePaying(): void {
  if (injected().ethereum !== undefined || canSignTransactions()) return;
  throw new Error(
    'This event has a price. To pay it, open this page in a browser with an Ethereum or a Solana wallet.',
  );
}

/** @throws the wallet's error, and Error in words where there is none */
export async function connectPaying(): Promise<PlayerWallet> {
  requirePaying();
  return injected().ethereum === undefined ? connectSolana() : connectEthereum();
}

type Confirm = (offer: Offer) => Promise<boolean>;

/**
 * Who pays for a play. A payment from the player's own account may be the call itself: from any other one it would be another
 * player's. @throws Error in words where nothing in this browser can pay
 */
export function payersOf({ kind, address }: PlayerWallet, { payerMayCall }: PublicEvent, confirm: Confirm) {
  requirePaying();
  const { ethereum } = injected();
  const account = kind === 'ethereum' ? { account: address } : {};
  const onEvm = ethereum === undefined ? [] : [ethereumWay(ethereum, account)];
  const onSolana = canSignTransactions() ? [solanaWay(kind === 'solana' ? address : undefined)] : [];
  const isCaller = payerMayCall && kind === 'ethereum' && ethereum !== undefined;
  return {
    payer: createPayer(kind === 'solana' ? [...onSolana, ...onEvm] : [...onEvm, ...onSolana], confirm),
    caller: isCaller
      ? createPayer([ethereumWay(ethereum, { account: address, isOnly: true })], confirm)
      : undefined,
  };
}
