import type { components } from '@orrery/sdk';
import { useChange } from '../api/change.js';
import { keyOf } from '../api/read.js';
import type { Me } from '../api/records.js';
import { signForKey } from '../session/sign-in.js';
import { type BrowserWallet, useWallets } from '../session/wallets.js';
import { CheckList, named, type Option, SelectField, TextField } from '../ui/field.js';
import { SaveForm, useDraft } from '../ui/save-form.js';
import { endOf, type Life, livesFor, outlives } from './key-lives.js';

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
  const { draft, change, field } = useDraft(initial, LABELS, create.error);
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
  const form = { verb: 'Create', save: create, labels: LABELS, onSubmit: submit, cancel: onClose };
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
