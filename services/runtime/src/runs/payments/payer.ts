import { storedWallet } from '@orrery/contracts';
import type { Address, Hex } from 'viem';
import { readAuthorization } from '../../core/payments/evm-authorization.js';
import type { Payment } from '../../core/payments/payment.js';

const TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;

/**
 * Who has made a verified payment, as wallets are stored: a key of EVM chains without a chain; an account whose signature no
 * key of its address has made is a contract, and is named with its chain, since elsewhere the address may be somebody else's.
 */
export async function payerOf({ payer, payload, requirement }: Payment): Promise<string> {
  if (requirement.family !== 'evm') return payer;
  const { signature, authorization } = readAuthorization(payload);
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const { name, version } = requirement.extra as { name: string; version: string };
  const { recoverTypedDataAddress } = await import('viem');
  const chainId = Number(requirement.caip2.slice('eip155:'.length));
  const signer = await recoverTypedDataAddress({
    domain: { name, version, chainId, verifyingContract: requirement.asset.toLowerCase() as Address },
    types: TYPES,
    primaryType: 'TransferWithAuthorization',
    message: {
      from: from as Address,
      to: to as Address,
      value: BigInt(value),
      validAfter: BigInt(validAfter),
      validBefore: BigInt(validBefore),
      nonce: nonce as Hex,
    },
    signature: signature as Hex,
  }).catch(() => undefined);
  return signer?.toLowerCase() === from ? payer : storedWallet(`${requirement.caip2}:${payer}`);
}
