import type { Migrations } from '@orrery/database';
import * as accounts from './0001-accounts.js';

export const migrations: Migrations = { '0001-accounts': accounts };
