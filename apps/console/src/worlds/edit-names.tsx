import { useState } from 'react';
import type { useChange } from '../api/use-change.js';
import { Button } from '../ui/button.js';
import { FormDialog } from '../ui/form-dialog.js';
import { NameForm, type NameValues } from './name-form.js';

interface EditNamesProps {
  title: string;
  values: NameValues;
  hint: string;
  save: ReturnType<typeof useChange<NameValues, { name: string }>>;
  /** Shows the page under the name that was saved. */
  show: (name: string) => Promise<void>;
}

/** A button that opens the form of a name and a description, and shows the page again once they are saved. */
export function EditNames({ title, values, hint, save, show }: EditNamesProps) {
  const [isOpen, setOpen] = useState(false);
  const submit = (next: NameValues) =>
    save.mutate(next, {
      onSuccess: async ({ name }) => {
        setOpen(false);
        await show(name);
      },
    });
  return (
    <>
      <Button onClick={() => setOpen(true)}>Edit</Button>
      <FormDialog title={title} open={isOpen} onClose={() => setOpen(false)}>
        <NameForm
          values={values}
          verb="Save"
          hint={hint}
          pending={save.isPending}
          error={save.error}
          onSubmit={submit}
          onCancel={() => setOpen(false)}
        />
      </FormDialog>
    </>
  );
}
