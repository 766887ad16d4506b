import type { components } from '@orrery/sdk';
import { useState } from 'react';
import { useChange } from '../api/use-change.js';
import { Button } from '../ui/button.js';
import { Actions } from '../ui/dialog.js';
import { ErrorNote, problemAt } from '../ui/error-note.js';
import { CheckField, SelectField, TextField } from '../ui/field.js';
import { fieldsOf } from '../ui/field-labels.js';
import { Form } from '../ui/form.js';
import { FormDialog } from '../ui/form-dialog.js';

type KeyBody = components['schemas']['CreateKey'];
type Scope = KeyBody['scopes'][number];

const SCOPES: readonly (readonly [Scope, string])[] = [
  ['read', 'reads worlds, deployments and histories'],
  ['write', 'creates and changes them'],
  ['execute', 'executes events'],
  ['keys', 'makes and revokes keys'],
];
const LIVES = [
  ['', 'for ever'],
  ['1', 'a day'],
  ['30', '30 days'],
  ['365', 'a year'],
] as const;
type Days = (typeof LIVES)[number][0];

export interface NewKeyProps {
  /** The scopes of the key in use. A key makes none that may do more. */
  own: readonly Scope[];
  onToken: (token: string) => void;
}

export function NewKey({ own, onToken }: NewKeyProps) {
  const [isOpen, setOpen] = useState(false);
  const create = useChange((orrery, body: KeyBody) => orrery.post('/api/keys', { body }), [['keys']]);
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
      <Button look="primary" disabled={!own.includes('keys')} onClick={() => setOpen(true)}>
        New key
      </Button>
      <FormDialog title="New API key" open={isOpen} onClose={close}>
        <KeyForm
          own={own}
          pending={create.isPending}
          error={create.error}
          onSubmit={(body) => create.mutate(body, { onSuccess: (key) => created(key.token) })}
          onCancel={close}
        />
      </FormDialog>
    </>
  );
}

interface KeyFormProps {
  own: readonly Scope[];
  pending: boolean;
  error: unknown;
  onSubmit: (body: KeyBody) => void;
  onCancel: () => void;
}

function KeyForm({ own, pending, error, onSubmit, onCancel }: KeyFormProps) {
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<readonly Scope[]>(['read']);
  const [days, setDays] = useState<Days>('30');
  const submit = () => {
    const expiresAt = days === '' ? {} : { expiresAt: inDays(Number(days)) };
    onSubmit({ name: name.trim(), scopes: [...scopes], ...expiresAt });
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
      <SelectField label="It is good" value={days} onChange={setDays} options={LIVES} />
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

const DAY_MS = 86_400_000;
const inDays = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString();
