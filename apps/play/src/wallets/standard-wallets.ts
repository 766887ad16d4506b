/** A wallet by the Wallet Standard, as far as this page uses it. It may have more than one account. */
interface StandardWallet {
  readonly accounts: readonly StandardAccount[];
  readonly features: {
    readonly 'standard:connect': { connect(): Promise<{ accounts: readonly StandardAccount[] }> };
    readonly 'solana:signTransaction': {
      signTransaction(asked: {
        readonly account: StandardAccount;
        readonly transaction: Uint8Array;
        readonly chain: string;
      }): Promise<readonly { readonly signedTransaction: Uint8Array }[]>;
    };
  };
}
interface StandardAccount {
  readonly address: string;
}

/** An account of Solana whose wallet signs a transaction in its wire format. */
export interface TransactionSigner {
  readonly address: string;
  /** @param chain such as `solana:devnet` @throws the wallet's error */
  sign(transaction: Uint8Array, chain: string): Promise<Uint8Array>;
}

/** The wallets that have put themselves into the page: each that is there answers at once. */
function standardWallets(): StandardWallet[] {
  const found: StandardWallet[] = [];
  const api = {
    register: (...wallets: StandardWallet[]) => {
      found.push(...wallets.filter(({ features }) => 'solana:signTransaction' in features));
      return () => undefined;
    },
  };
  dispatchEvent(new CustomEvent('wallet-standard:app-ready', { detail: api }));
  return found;
}

export const canSignTransactions = (): boolean => standardWallets().length > 0;

/** The account of this address where a wallet shows it, or else the first one. @throws the wallet's error */
export async function transactionSigner(preferred: string | undefined): Promise<TransactionSigner> {
  const hasPreferred = ({ accounts }: Pick<StandardWallet, 'accounts'>) =>
    accounts.find(({ address }) => address === preferred);
  const wallets = standardWallets();
  const wallet = wallets.find(hasPreferred) ?? wallets[0];
  if (wallet === undefined) throw new Error('This browser has no Solana wallet that signs transactions.');
  const connected = await wallet.features['standard:connect'].connect();
  const account = hasPreferred(connected) ?? connected.accounts[0];
  if (account === undefined) throw new Error('The wallet shows no account: unlock it, and choose one there.');
  const { signTransaction } = wallet.features['solana:signTransaction'];
  return {
    address: account.address,
    sign: async (transaction, chain) => {
      const [signed] = await signTransaction({ account, transaction, chain });
      if (signed === undefined) throw new Error('The wallet has signed nothing.');
      return signed.signedTransaction;
    },
  };
}
