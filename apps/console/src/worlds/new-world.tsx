import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useChange } from '../api/use-change.js';
import { Button } from '../ui/button.js';
import { FormDialog } from '../ui/form-dialog.js';
import { WorldForm, type WorldValues } from './world-form.js';

/** A button that opens the form of a new world, and then the world. */
export function NewWorld({ look = 'primary' }: { look?: 'primary' | 'secondary' }) {
  const [isOpen, setOpen] = useState(false);
  const navigate = useNavigate();
  const create = useChange(
    (orrery, { description, promptSeed, ...values }: WorldValues) =>
      orrery.post('/api/worlds', {
        body: { ...values, ...(description && { description }), ...(promptSeed && { promptSeed }) },
      }),
    [['worlds']],
  );
  const submit = (values: WorldValues) =>
    create.mutate(values, {
      onSuccess: ({ address }) =>
        void navigate({ to: '/worlds/$world', params: { world: address }, ignoreBlocker: true }),
    });
  return (
    <>
      <Button look={look} onClick={() => setOpen(true)}>
        New world
      </Button>
      <FormDialog title="New world" open={isOpen} onClose={() => setOpen(false)}>
        <WorldForm
          verb="Create"
          pending={create.isPending}
          error={create.error}
          onSubmit={submit}
          onCancel={() => setOpen(false)}
        />
      </FormDialog>
    </>
  );
}
