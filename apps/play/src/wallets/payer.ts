import type { Payer, PaymentRequired, PaymentRequirement } from '@orrery/sdk';
import { CannotPay } from './wallets.js';

/** What is paid, told to the player before the wallet signs. */
export interface Offer {
  /** In the asset's smallest unit. */
  readonly amount: string;
  /** Of the asset; undefined: nobody has told. */
  readonly decimals: number | undefined;
  readonly asset: string;
  /** Empty: the offer does not say. */
  readonly assetName: string;
  readonly network: string;
  readonly payTo: string;
  /** The account that pays. */
  readonly payer: string;
}

/** How a wallet of one family of chains pays what is asked for by the scheme `exact`. */
export interface Way {
  readonly takes: (one: PaymentRequirement) => boolean;
  readonly assetName: (one: PaymentRequirement) => string;
  /** The account that pays: the wallet may ask whether the page may see it. @throws its error */
  readonly account: () => Promise<string>;
  /** Has the wallet sign, for that account alone. @throws its error */
  readonly pay: (one: PaymentRequirement, account: string) => Promise<object>;
}

/** Pays by x402, in the first way that the offer allows. `confirm` asks the player with what exactly is paid. */
export function createPayer(ways: readonly Way[], confirm: (offer: Offer) => Promise<boolean>): Payer {
  return {
    createPaymentPayload: async (asked) => {
      const { accepts, resource } = asked as PaymentRequired;
      const exact = accepts.filter(({ scheme }) => scheme === 'exact');
      const [found] = ways.flatMap((way) => exact.filter(way.takes).map((accepted) => ({ way, accepted })));
      if (found === undefined)
        throw new CannotPay(
          'None of your wallets can pay this: the owner takes payments of other networks alone.',
        );
      const { way, accepted } = found;
      const payer = await way.account();
      if (!(await confirm(offerOf(accepted, way.assetName(accepted), payer))))
        throw new Error('You have not agreed to pay, so this was not played.');
      const payload = await way.pay(accepted, payer);
      return { x402Version: 2, ...(resource !== undefined && { resource }), accepted, payload };
    },
  };
}

function offerOf(accepted: PaymentRequirement, assetName: string, payer: string): Offer {
  const { amount, asset, network, payTo } = accepted;
  return { amount, decimals: decimalsOf(accepted), asset, assetName, network, payTo, payer };
}

/** USDC of Circle, by network and address. */
const USDC: ReadonlySet<string> = new Set([
  'eip155:8453 0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
  'eip155:84532 0x036cbd53842c5426634e7929541ec2318f3dcf7e',
  'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1 4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
]);
const USDC_DECIMALS = 6;

/** A server's word about its own asset could not be checked: what is not known is shown in units alone. */
function decimalsOf({ network, asset }: PaymentRequirement): number | undefined {
  const address = network.startsWith('eip155:') ? asset.toLowerCase() : asset;
  return USDC.has(`${network} ${address}`) ? USDC_DECIMALS : undefined;
}
