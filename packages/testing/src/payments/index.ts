export { type ContractAccount, type ContractAccounts, startContractAccounts } from './contract-accounts.js';
export { type EvmPayments, startEvmPayments } from './evm-payments.js';
export type { Conduct } from './facilitator-server.js';
export { type SolanaPayments, startSolanaPayments } from './solana-payments.js';
