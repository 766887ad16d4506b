import type { components } from '@orrery/sdk';
import { useState } from 'react';
import type { Me } from '../api/records.js';
import { useChange } from '../api/use-change.js';
import { signForKey } from '../session/sign-in.js';
import { type BrowserWallet, useWallets } from '../session/wallets.js';
import { Button } from '../ui/button.js';
import { Actions } from '../ui/dialog.js';
import { ErrorNote, problemAt } from '../ui/error-note.js';
import { CheckField, SelectField, TextField } from '../ui/field.js';
import { fieldsOf } from '../ui/field-labels.js';
import { Form } from '../ui/form.js';
import { FormDialog } from '../ui/form-dialog.js';
import { endOf, type Life, livesFor, outlives } from './key-lives.js';

type KeyBody = components['schemas']['CreateKey'];
type Scope = KeyBody['scopes'][number];

const SCOPES: readonly (readonly [Scope, string])[] = [
  ['read', 'reads worlds, deployments and histories'],
  ['write', 'creates and changes them'],
  ['execute', 'executes events'],
  ['keys', 'makes and revokes keys'],
];

/** A key to make, and the wallet that signs for it where the key in use cannot make it. */
interface Wanted {
  body: KeyBody;
  signer: BrowserWallet | undefined;
}

export interface NewKeyProps {
  /** Who the key in use is; undefined until that is known. A key makes none that may do more, or that is good for longer. */
  me: Me | undefined;
  onToken: (token: string) => void;
}

export function NewKey({ me, onToken }: NewKeyProps) {
  const [isOpen, setOpen] = useState(false);
  const create = useChange(
    async (orrery, { body, signer }: Wanted) =>
      signer === undefined
        ? (await orrery.post('/api/keys', { body })).token
        : await signForKey(signer, body, me?.account.wallet ?? ''),
    [['keys']],
  );
  const close = () => {
    setOpen(false);
    create.reset();
  };
  const created = (next: string) => {
    close();
    onToken(next);
  };
  return (
    <>
      <Button look="primary" disabled={!me?.key.scopes.includes('keys')} onClick={() => setOpen(true)}>
        New key
      </Button>
      <FormDialog title="New API key" open={isOpen} onClose={close}>
        {me !== undefined && (
          <KeyForm
            me={me}
            pending={create.isPending}
            error={create.error}
            onSubmit={(wanted) => create.mutate(wanted, { onSuccess: created })}
            onCancel={close}
          />
        )}
      </FormDialog>
    </>
  );
}

interface KeyFormProps {
  me: Me;
  pending: boolean;
  error: unknown;
  onSubmit: (wanted: Wanted) => void;
  onCancel: () => void;
}

function KeyForm({ me, pending, error, onSubmit, onCancel }: KeyFormProps) {
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<readonly Scope[]>(['read']);
  const { scopes: own, expiresAt: end } = me.key;
  const [life, setLife] = useState<Life>(end === null ? '30' : 'session');
  const wallets = useWallets();
  const [signedBy, setSignedBy] = useState('');
  const signers = me.account.wallet === null ? [] : wallets;
  const isSigned = outlives(life, end, Date.now());
  const submit = () => {
    const signer = signers.find(({ name: one }) => one === signedBy) ?? signers[0];
    const expiresAt = endOf(life, Date.now());
    const body = { name: name.trim(), scopes: [...scopes], ...(expiresAt !== undefined && { expiresAt }) };
    onSubmit({ body, signer: isSigned ? signer : undefined });
  };
  const toggle = (scope: Scope) => (isOn: boolean) =>
    setScopes((now) => (isOn ? [...now, scope] : now.filter((one) => one !== scope)));
  return (
    <Form onSubmit={submit} className="space-y-4">
      <TextField
        label="Name"
        required
        value={name}
        onChange={setName}
        hint="What it is for, such as the program that uses it."
        error={problemAt(error, '/name')}
      />
      <fieldset>
        <legend className="mb-1.5 font-medium">What it may do</legend>
        <div className="space-y-1.5">
          {SCOPES.map(([scope, words]) => (
            <CheckField
              key={scope}
              label={scope}
              hint={own.includes(scope) ? words : `${words}; the key that you signed in with may not`}
              checked={scopes.includes(scope)}
              disabled={!own.includes(scope)}
              onChange={toggle(scope)}
            />
          ))}
        </div>
      </fieldset>
      <SelectField
        label="It is good"
        value={life}
        onChange={setLife}
        options={livesFor(end, signers.length > 0, Date.now())}
        hint={lifeHint(end, isSigned)}
      />
      {isSigned && signers.length > 1 && (
        <SelectField
          label="Signed by"
          value={signedBy}
          onChange={setSignedBy}
          options={signers.map((one) => [one.name, one.name] as const)}
        />
      )}
      <ErrorNote title="No key was made" error={error} {...FIELDS} />
      <Actions>
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" look="primary" pending={pending} disabled={scopes.length === 0}>
          Create
        </Button>
      </Actions>
    </Form>
  );
}

const FIELDS = fieldsOf({ '/name': 'Name' });

function lifeHint(end: string | null, isSigned: boolean): string | undefined {
  if (isSigned) return 'That is longer than this session: your wallet signs for it.';
  return end === null ? undefined : 'It ends with the key of this session, also when you sign out.';
}
