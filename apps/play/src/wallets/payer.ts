import type { EthereumProvider, Payer, PaymentRequired, PaymentRequirement } from '@orrery/sdk';

/** What is paid, told to the player before the wallet signs. */
export interface Offer {
  /** In the asset's smallest unit. */
  readonly amount: string;
  readonly asset: string;
  readonly assetName: string;
  readonly network: string;
  readonly payTo: string;
}

interface EvmRequirement extends PaymentRequirement {
  readonly maxTimeoutSeconds: number;
  readonly extra: { readonly name: string; readonly version: string };
}

/** The longest that an authorization may be valid, in seconds: more than a server of ours asks for. */
const LONGEST_SECONDS = 600;
/** Clocks of chains may be behind. */
const CLOCK_SECONDS = 600;

/**
 * Pays by x402, scheme `exact`, with an Ethereum wallet: it signs a transfer of a fixed amount (EIP-3009), which the server
 * hands in. The wallet never sends a transaction. `confirm` asks the player with what exactly is paid.
 */
export function ethereumPayer(
  ethereum: EthereumProvider,
  confirm: (offer: Offer) => Promise<boolean>,
): Payer {
  return {
    createPaymentPayload: async (asked) => {
      const required = asked as PaymentRequired;
      const accepted = required.accepts.find(isPayable);
      if (accepted === undefined)
        throw new Error(
          'An Ethereum wallet cannot pay this: the owner takes payments of other networks alone.',
        );
      const { amount, asset, network, payTo, extra } = accepted;
      if (!(await confirm({ amount, asset, assetName: extra.name, network, payTo })))
        throw new Error('You have not paid. Nothing was done.');
      const payload = await authorize(ethereum, accepted);
      const { resource } = required;
      return { x402Version: 2, ...(resource !== undefined && { resource }), accepted, payload };
    },
  };
}

const isPayable = (one: PaymentRequirement): one is EvmRequirement => {
  const { scheme, network, extra, maxTimeoutSeconds } = one as Partial<EvmRequirement>;
  return (
    scheme === 'exact' &&
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
) {
  const [from] = (await ethereum.request({ method: 'eth_requestAccounts' })) as string[];
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
