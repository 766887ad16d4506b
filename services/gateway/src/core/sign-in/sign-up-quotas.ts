import type { AccountQuotas } from '@orrery/contracts';

/** What an account that signed up by itself may use up, unless the operator says otherwise: nothing that costs money. */
export const DEFAULT_SIGN_UP_QUOTAS: Required<AccountQuotas> = {
  worlds: 10,
  deployments: 20,
  aiUsdPerDay: 0,
  pushesPerDay: 0,
};

const isQuota = (name: string): name is keyof AccountQuotas => Object.hasOwn(DEFAULT_SIGN_UP_QUOTAS, name);

const WHOLE = /^\d{1,9}$/;
const DOLLARS = /^\d{1,9}(\.\d{1,6})?$/;

/** What `SIGN_UP_QUOTAS` has to look like. */
export const SIGN_UP_QUOTAS_FORM =
  'quotas such as worlds=10,deployments=20,aiUsdPerDay=0,pushesPerDay=0; `unlimited` in place of a number lifts one';

/**
 * Reads quotas separated by commas. One that is not named keeps its default, one that is `unlimited` is left out.
 * Undefined for a text that is no list of quotas, names one twice, or one that does not exist.
 */
export function parseSignUpQuotas(text: string): AccountQuotas | undefined {
  const quotas: AccountQuotas = { ...DEFAULT_SIGN_UP_QUOTAS };
  const seen = new Set<string>();
  for (const part of text.split(',')) {
    const [name = '', value = '', ...rest] = part.split('=').map((one) => one.trim());
    if (!isQuota(name) || seen.has(name) || rest.length > 0) return undefined;
    seen.add(name);
    if (value === 'unlimited') delete quotas[name];
    else if ((name === 'aiUsdPerDay' ? DOLLARS : WHOLE).test(value)) quotas[name] = Number(value);
    else return undefined;
  }
  return quotas;
}
