import { expect, it } from 'vitest';
import { accountStateOf } from './account-store.js';

it('tells no service a quota that it could not store', () => {
  const row = {
    ...{ id: 2, name: 'ann', wallet: null, disabled_at: new Date(), revision: 3 },
    quotas: { worlds: 9_999_999_999, pushesPerDay: 7, aiUsdPerDay: 0.5 },
    ...{ created_at: new Date(), updated_at: new Date() },
  };
  expect(accountStateOf(row)).toEqual({
    ...{ accountId: 2, disabled: true, revision: 3 },
    quotas: { worlds: 999_999_999, pushesPerDay: 7, aiUsdPerDay: 0.5 },
  });
});
