import type { AccountQuotas, Scope, SignedKey } from '@orrery/contracts';
import type { OutboxSchema } from '@orrery/database';
import type { ColumnType, Generated, Kysely, Transaction } from 'kysely';

type Written = ColumnType<Date, Date | undefined, Date>;

export interface AccountsTable {
  id: Generated<number>;
  name: string;
  /** Base58 public key; null for accounts that the operator made. */
  wallet: string | null;
  quotas: ColumnType<AccountQuotas, unknown, unknown>;
  disabled_at: Date | null;
  /** Grows with every change of quotas or state, so that late messages about it are recognised. */
  revision: Generated<number>;
  created_at: Written;
  updated_at: Written;
}

export interface KeysTable {
  /** The part of the token that names the key; no secret. */
  id: string;
  account_id: number;
  name: string;
  /** SHA-256 of the whole token. */
  hash: Buffer;
  scopes: Scope[];
  created_at: Written;
  expires_at: Date | null;
  revoked_at: Date | null;
  last_used_at: Date | null;
  /** Id of the key that made it; null where none did, or where it is older than this column. */
  made_by: string | null;
}

export interface ChallengesTable {
  wallet: string;
  /** The whole text to be signed; its nonce makes it one of a kind. */
  message: string;
  expires_at: Date;
  /** The key that is signed for; null for a sign-in. */
  key: ColumnType<SignedKey | null, unknown, never>;
}

export interface SignInCodesTable {
  /** SHA-256 of the code. */
  hash: Buffer;
  account_id: number;
  expires_at: Date;
}

/** The gateway's part of the database, in the schema `gateway`. */
export interface GatewaySchema extends OutboxSchema {
  challenges: ChallengesTable;
  sign_in_codes: SignInCodesTable;
  accounts: AccountsTable;
  keys: KeysTable;
}

export type Db = Kysely<GatewaySchema>;
export type Trx = Transaction<GatewaySchema>;
