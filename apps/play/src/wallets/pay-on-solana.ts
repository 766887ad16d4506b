import type { PaymentRequirement } from '@orrery/sdk';
import type { Way } from './payer.js';
import { transactionSigner } from './standard-wallets.js';

interface SolanaRequirement extends PaymentRequirement {
  readonly extra: { readonly feePayer: string };
}

/** A wallet signs a transfer whose fees the facilitator pays, and the server hands it in. `preferred`: the player's account. */
export const solanaWay = (preferred: string | undefined): Way => ({
  takes: (one) => {
    const { network, extra } = one as Partial<SolanaRequirement>;
    return network?.startsWith('solana:') === true && typeof extra?.feePayer === 'string';
  },
  assetName: () => '',
  account: async () => (await transactionSigner(preferred)).address,
  pay: async (one, account) => {
    // Half as much as the page itself, so it is loaded by who pays in this way.
    const [{ signTransfer }, signer] = await Promise.all([
      import('./sign-transfer.js'),
      transactionSigner(account),
    ]);
    if (signer.address !== account)
      throw new Error(`The wallet does not show the account ${account} any more. Nothing was done.`);
    return signTransfer(one, signer);
  },
});
