import { expect, it } from 'vitest';
import type { Offer } from '../wallets/payer.js';
import { type Asked, createAsking } from './asking.js';

it('asks about one offer after the other, and gives each its own answer', async () => {
  let shown: Asked | undefined;
  const ask = createAsking((asked) => {
    shown = asked;
  });
  const answers = [ask('toast', { amount: '1' } as Offer), ask('treat', { amount: '2' } as Offer)];
  const first = shown;
  expect(first).toMatchObject({ event: 'toast', offer: { amount: '1' } });
  first?.answer(true);
  expect(shown).toMatchObject({ event: 'treat', offer: { amount: '2' } });
  expect(shown?.id).not.toBe(first?.id);
  shown?.answer(false);
  expect(shown).toBeUndefined();
  expect(await Promise.all(answers)).toEqual([true, false]);
});
