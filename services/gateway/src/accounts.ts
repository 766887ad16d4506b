export { parseToken, TOKEN_PATTERN } from './core/keys/key-token.js';
export { accountOfToken } from './http/access/access.js';
export { listKeys } from './operations/keys.js';
export * from './store/accounts/account-store.js';
export {
  ALL_SCOPES,
  createAccountWithKey,
  createKey,
  type NewKey,
  revokeKey,
} from './store/keys/key-store.js';
export { createSignInCode } from './store/sign-in/sign-in.js';
export { openDatabase } from './store/tables/open-database.js';
export type { GatewaySchema } from './store/tables/schema.js';
