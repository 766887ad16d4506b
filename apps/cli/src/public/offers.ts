import type { PaymentRequired, PaymentRequirement } from '@orrery/sdk';

/** One of the ways to pay a price, by a 402. */
export interface Offer {
  readonly family: 'evm' | 'solana';
  /** The price in US dollars; undefined for an asset that is none of the well-known dollars. */
  readonly usd: number | undefined;
  /** For people: amount, asset, network and receiver. */
  readonly shown: string;
}

/** What a 402 offers. The x402 packages, which know the assets, are loaded here: no other command waits for them. */
export async function offersOf({ accepts }: Pick<PaymentRequired, 'accepts'>): Promise<Offer[]> {
  const familyOf = ({ network }: PaymentRequirement) => (network.startsWith('solana:') ? 'solana' : 'evm');
  const isAsked = (family: Offer['family']) => accepts.some((one) => familyOf(one) === family);
  const onEvm = isAsked('evm') ? (await import('@x402/evm')).findDefaultAsset : unknownAsset;
  const onSolana = isAsked('solana') ? (await import('@x402/svm')).findDefaultAsset : unknownAsset;
  return accepts.map((requirement) => {
    const family = familyOf(requirement);
    const find = family === 'evm' ? onEvm : onSolana;
    return offerOf(
      requirement,
      family,
      find(requirement.asset, requirement.network as `${string}:${string}`),
    );
  });
}

const unknownAsset = () => undefined;

function offerOf(
  { amount, asset, network, payTo }: PaymentRequirement,
  family: Offer['family'],
  dollar: { readonly decimals: number; readonly symbol: string } | undefined,
): Offer {
  const usd = dollar && Number(amount) / 10 ** dollar.decimals;
  const price = usd === undefined ? '' : `$${usd}: `;
  return {
    family,
    usd,
    shown: `${price}${amount} units of ${dollar?.symbol ?? asset} on ${network}, to ${payTo}`,
  };
}

export interface Allowance {
  /** Of the keys that pay. */
  readonly family: Offer['family'];
  /** US dollars. */
  readonly maxUsd: number;
}

/** Why none of the offers is paid, and what would change that; undefined where one is. */
export function unaffordable(offers: readonly Offer[], { family, maxUsd }: Allowance): string | undefined {
  const payable = offers.filter((offer) => offer.family === family);
  if (payable.length === 0) return `${asked(offers)} ${OTHER_KEY[family]}`;
  const prices = payable.flatMap(({ usd }) => usd ?? []);
  if (prices.length === 0)
    return `${asked(payable)} The command pays in well-known dollar assets alone, and this is none of them.`;
  const least = Math.min(...prices);
  return least <= maxUsd
    ? undefined
    : `${asked(payable)} --max-usd allows $${maxUsd}: to pay add --max-usd ${least}.`;
}

const OTHER_KEY: Readonly<Record<Offer['family'], string>> = {
  evm: 'None of these is paid by --evm-key: leave it out, and the wallet itself pays, on Solana.',
  solana:
    'Without --evm-key the wallet itself pays, on Solana: to pay on an EVM chain add --evm-key <file> with a private key.',
};

/** What to add to the command for a price that was not to be paid. */
export function howToPay(offers: readonly Offer[]): string {
  const price = Math.min(...offers.flatMap(({ usd }) => usd ?? []));
  const key = offers.some(({ family }) => family === 'solana') ? '' : ' --evm-key <file with a private key>';
  const most = Number.isFinite(price) ? ` --max-usd ${price}` : '';
  return `${asked(offers)} Nothing was paid: to pay add --pay${most}${key}.`;
}

const asked = (offers: readonly Offer[]): string =>
  `It costs ${offers.map(({ shown }) => shown).join('; or ')}.`;
