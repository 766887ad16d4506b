import type { Payer, PaymentRequired, PaymentRequirement } from '@orrery/sdk';

/** What is paid, told to the player before the wallet signs. */
export interface Offer {
  /** In the asset's smallest unit. */
  readonly amount: string;
  readonly asset: string;
  /** Empty: the offer does not say. */
  readonly assetName: string;
  readonly network: string;
  readonly payTo: string;
}

/** How a wallet of one family of chains pays what is asked for by the scheme `exact`. */
export interface Way {
  readonly takes: (one: PaymentRequirement) => boolean;
  readonly assetName: (one: PaymentRequirement) => string;
  /** Has the wallet sign. @throws its error */
  readonly pay: (one: PaymentRequirement) => Promise<object>;
}

/** Pays by x402, in the first way that the offer allows. `confirm` asks the player with what exactly is paid. */
export function createPayer(ways: readonly Way[], confirm: (offer: Offer) => Promise<boolean>): Payer {
  return {
    createPaymentPayload: async (asked) => {
      const { accepts, resource } = asked as PaymentRequired;
      const exact = accepts.filter(({ scheme }) => scheme === 'exact');
      const [found] = ways.flatMap((way) => exact.filter(way.takes).map((accepted) => ({ way, accepted })));
      if (found === undefined)
        throw new Error(
          'None of your wallets can pay this: the owner takes payments of other networks alone.',
        );
      const { way, accepted } = found;
      const { amount, asset, network, payTo } = accepted;
      if (!(await confirm({ amount, asset, assetName: way.assetName(accepted), network, payTo })))
        throw new Error('You have not paid. Nothing was done.');
      const payload = await way.pay(accepted);
      return { x402Version: 2, ...(resource !== undefined && { resource }), accepted, payload };
    },
  };
}
