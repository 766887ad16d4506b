export { openDatabase } from '../database/open-database.js';
export type { GatewaySchema } from '../database/schema.js';
export * from './account-store.js';
export { setAccountDisabled, setAccountQuotas } from './change-account.js';
export { ALL_SCOPES, createAccountWithKey, createKey, type NewKey } from './create-key.js';
export { listKeys } from './key-handlers.js';
export { revokeKeyRow as revokeKey } from './key-store.js';
export { parseToken, TOKEN_PATTERN } from './key-token.js';
export { isUsableToken } from './key-verifier.js';
