import type { components } from '@orrery/sdk';
import { useChange } from '../api/change.js';
import { keyOf } from '../api/read.js';
import type { Me } from '../api/records.js';
import { type BrowserWallet, signForKey, useWallets } from '../session/sign-in.js';
import { CheckList, named, type Option, SelectField, TextField } from '../ui/field.js';
import { SaveForm, useDraft } from '../ui/save-form.js';

type KeyBody = components['schemas']['CreateKey'];
type Scope = KeyBody['scopes'][number];

const SCOPES: readonly Option<Scope>[] = [
  ['read', 'reads worlds, deployments and histories'],
  ['write', 'creates and changes them'],
  ['execute', 'executes events'],
  ['keys', 'makes and revokes keys'],
];
const LABELS = { '/name': 'Name' };

/** A key to make, and the wallet that signs for it where the key in use cannot make it. */
export interface NewKeyProps {
  /** Who the key in use is. A key makes none that may do more, or that is good for longer. */
  me: Me;
  onToken: (token: string) => void;
  onClose: () => void;
}

export function NewKey({ me, onToken, onClose }: NewKeyProps) {
  const { scopes: own, expiresAt: end } = me.key;
  const create = useChange(
    async (orrery, { body, signer }: { body: KeyBody; signer: BrowserWallet | undefined }) =>
      signer === undefined
        ? (await orrery.post('/api/keys', { body })).token
        : await signForKey(signer, body, me.account.wallet ?? ''),
    [keyOf('/api/keys')],
    (token) => {
      onClose();
      onToken(token);
    },
  );
  const initial = {
    name: '',
    scopes: ['read'] as readonly Scope[],
    life: (end === null ? '30' : 'session') as Life,
    signedBy: '',
  };
  const { draft, change, field, refusal } = useDraft(initial, LABELS, create.error);
  const { scopes, life } = draft;
  const wallets = useWallets();
  const signers = me.account.wallet === null ? [] : wallets;
  const isSigned = outlives(life, end, Date.now());
  const submit = () => {
    const signer = signers.find(({ name }) => name === draft.signedBy) ?? signers[0];
    const expiresAt = endOf(life, Date.now());
    const name = draft.name.trim();
    const body = { name, scopes: [...scopes], ...(expiresAt !== undefined && { expiresAt }) };
    create.mutate({ body, signer: isSigned ? signer : undefined });
  };
  const form = { verb: 'Create', save: create, refusal, labels: LABELS, onSubmit: submit, cancel: onClose };
  return (
    <SaveForm {...form} failed="No key was made" disabled={scopes.length === 0} className="space-y-4">
      <TextField {...field('name')} required hint="What it is for, such as the program that uses it." />
      <CheckList
        legend="What it may do"
        className="space-y-1.5"
        options={SCOPES.map(([value, words]) => ({
          value,
          hint: own.includes(value) ? words : `${words}; the key that you signed in with may not`,
          disabled: !own.includes(value),
        }))}
        chosen={scopes}
        onChange={(next) => change({ scopes: next })}
      />
      <SelectField
        {...field('life')}
        label="It is good"
        options={livesFor(end, signers.length > 0, Date.now())}
        hint={lifeHint(end, isSigned)}
      />
      {isSigned && signers.length > 1 && (
        <SelectField
          {...field('signedBy')}
          label="Signed by"
          options={named(signers.map(({ name }) => name))}
        />
      )}
    </SaveForm>
  );
}

function lifeHint(end: string | null, isSigned: boolean): string | undefined {
  if (isSigned) return 'That is longer than this session: your wallet signs for it.';
  return end === null ? undefined : 'It ends with the key of this session, also when you sign out.';
}

const LIVES = [
  ['1', 'a day'],
  ['30', '30 days'],
  ['365', 'a year'],
  ['ever', 'for ever'],
] as const;

/** How long a new key is to be good: so many days, for ever, or as long as the key of the session. */
export type Life = (typeof LIVES)[number][0] | 'session';

const DAY_MS = 86_400_000;

/** When a key of that life ends, by RFC 3339; undefined where that is not to be said. */
export const endOf = (life: Life, now: number): string | undefined =>
  life === 'session' || life === 'ever' ? undefined : new Date(now + Number(life) * DAY_MS).toISOString();

/** Whether a key of the session, which ends at `sessionEnd`, cannot make one of that life. */
export function outlives(life: Life, sessionEnd: string | null, now: number): boolean {
  if (sessionEnd === null || life === 'session') return false;
  return life === 'ever' || now + Number(life) * DAY_MS > Date.parse(sessionEnd);
}

/** The lives to choose from. Longer ones than the session's need a wallet that can sign. */
export const livesFor = (
  sessionEnd: string | null,
  canSign: boolean,
  now: number,
): readonly (readonly [Life, string])[] => [
  ...(sessionEnd === null ? [] : [['session', 'as long as this session'] as const]),
  ...LIVES.filter(([life]) => canSign || !outlives(life, sessionEnd, now)),
];
