import { useEffect, useState } from 'react';

/** A wallet of the browser by the Wallet Standard (github.com/wallet-standard), as far as a sign-in needs it. */
export interface BrowserWallet {
  readonly name: string;
  /** A data URI. */
  readonly icon: string;
  readonly features: {
    readonly 'standard:connect': { connect(): Promise<{ accounts: readonly WalletAccount[] }> };
    readonly 'solana:signMessage': {
      signMessage(input: {
        account: WalletAccount;
        message: Uint8Array;
      }): Promise<readonly { signature: Uint8Array }[]>;
    };
  };
}

export interface WalletAccount {
  /** Base58. */
  readonly address: string;
}

interface Registry {
  register(...wallets: readonly object[]): () => void;
}

/** The wallets that can sign a text, as they announce themselves: before this page was loaded, or later. */
export function useWallets(): readonly BrowserWallet[] {
  const [wallets, setWallets] = useState<readonly BrowserWallet[]>([]);
  useEffect(() => {
    const registry: Registry = {
      register: (...added) => {
        setWallets((known) => [...known, ...added.filter(canSign)]);
        return () => setWallets((known) => known.filter((one) => !added.includes(one)));
      },
    };
    const announced = ({ detail }: CustomEvent<(registry: Registry) => void>) => detail(registry);
    const listener = announced as unknown as EventListener;
    window.addEventListener('wallet-standard:register-wallet', listener);
    window.dispatchEvent(new CustomEvent('wallet-standard:app-ready', { detail: registry }));
    return () => {
      window.removeEventListener('wallet-standard:register-wallet', listener);
      setWallets([]);
    };
  }, []);
  return wallets;
}

function canSign(wallet: object): wallet is BrowserWallet {
  const { features } = wallet as Partial<BrowserWallet>;
  return features?.['standard:connect'] !== undefined && features['solana:signMessage'] !== undefined;
}
