import type { EthereumProvider, PaymentRequirement } from '@orrery/sdk';
import type { Way } from './payer.js';

interface EvmRequirement extends PaymentRequirement {
  readonly maxTimeoutSeconds: number;
  readonly extra: { readonly name: string; readonly version: string };
}

/** The longest that an authorization may be valid, in seconds: more than a server of ours asks for. */
const LONGEST_SECONDS = 600;
/** Clocks of chains may be behind. */
const CLOCK_SECONDS = 600;

/** Whose account pays: that one where the wallet shows it; `isOnly`: no other one. */
interface Preferred {
  readonly account?: string;
  readonly isOnly?: boolean;
}

/**
 * An Ethereum wallet signs a transfer of a fixed amount (EIP-3009), which the server hands in. The wallet never sends a
 * transaction.
 */
export const ethereumWay = (ethereum: EthereumProvider, preferred: Preferred = {}): Way => ({
  takes: isPayable,
  assetName: (one) => (one as EvmRequirement).extra.name,
  account: () => payingAccount(ethereum, preferred),
  pay: (one, account) => authorize(ethereum, one as EvmRequirement, account),
});

/** Wallets show first what their owner has chosen last, which may be another account than the player's. */
async function payingAccount(
  ethereum: EthereumProvider,
  { account, isOnly = false }: Preferred,
): Promise<string> {
  const shown = (await ethereum.request({ method: 'eth_requestAccounts' })) as string[];
  const [first] = shown;
  if (first === undefined) throw new Error('The wallet shows no account: unlock it, and choose one there.');
  const own = shown.find((one) => one.toLowerCase() === account?.toLowerCase());
  if (own === undefined && isOnly)
    throw new Error(
      `Your wallet shows the account ${first}, and you play as ${account}. Choose that one in the wallet, or play with another one here. Nothing was done.`,
    );
  return own ?? first;
}

const isPayable = (one: PaymentRequirement): boolean => {
  const { network, extra, maxTimeoutSeconds } = one as Partial<EvmRequirement>;
  return (
    /^eip155:\d+$/.test(network ?? '') &&
    typeof extra?.name === 'string' &&
    typeof extra.version === 'string' &&
    typeof maxTimeoutSeconds === 'number'
  );
};

/** Signs `TransferWithAuthorization` of EIP-3009 as typed data (EIP-712). */
async function authorize(
  ethereum: EthereumProvider,
  { payTo: to, amount: value, asset: verifyingContract, maxTimeoutSeconds, network, extra }: EvmRequirement,
  from: string,
) {
  const chainId = Number(network.slice('eip155:'.length));
  await switchTo(ethereum, chainId);
  const now = Math.floor(Date.now() / 1000);
  const authorization = {
    from,
    to,
    value,
    validAfter: String(now - CLOCK_SECONDS),
    validBefore: String(now + Math.min(maxTimeoutSeconds, LONGEST_SECONDS)),
    nonce: hexOf(crypto.getRandomValues(new Uint8Array(32))),
  };
  const text = JSON.stringify({
    types: TYPES,
    primaryType: 'TransferWithAuthorization',
    domain: { name: extra.name, version: extra.version, chainId, verifyingContract },
    message: authorization,
  });
  const signature = await ethereum.request({ method: 'eth_signTypedData_v4', params: [from, text] });
  return { signature, authorization };
}

/** Wallets sign typed data of the chain alone that they are on. */
async function switchTo(ethereum: EthereumProvider, chainId: number): Promise<void> {
  const wanted = `0x${chainId.toString(16)}`;
  const present = await ethereum.request({ method: 'eth_chainId' });
  if (typeof present !== 'string' || present.toLowerCase() === wanted) return;
  await ethereum.request({ method: 'wallet_switchEthereumChain', params: [{ chainId: wanted }] });
}

const typed = (members: Record<string, string>) =>
  Object.entries(members).map(([name, type]) => ({ name, type }));
const TYPES = {
  EIP712Domain: typed({
    name: 'string',
    version: 'string',
    chainId: 'uint256',
    verifyingContract: 'address',
  }),
  TransferWithAuthorization: typed({
    from: 'address',
    to: 'address',
    value: 'uint256',
    validAfter: 'uint256',
    validBefore: 'uint256',
    nonce: 'bytes32',
  }),
};

const hexOf = (bytes: Uint8Array): string =>
  `0x${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
