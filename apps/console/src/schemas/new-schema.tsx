import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useChange } from '../api/use-change.js';
import { worldKey } from '../api/worlds.js';
import { Button } from '../ui/button.js';
import { FormDialog } from '../ui/form-dialog.js';
import { NameForm, type NameValues } from '../ui/name-form.js';

/** A button that opens the form of a new schema, and then the schema. */
export function NewSchema({ world, isFirst = false }: { world: string; isFirst?: boolean }) {
  const [isOpen, setOpen] = useState(false);
  const navigate = useNavigate();
  const create = useChange(
    (orrery, { name, description }: NameValues) =>
      orrery.post('/api/worlds/{worldAddress}/entity-schemas', {
        path: { worldAddress: world },
        body: { name, ...(description !== null && { description }) },
      }),
    [[...worldKey(world), 'schemas']],
  );
  return (
    <>
      <Button look={isFirst ? 'primary' : 'secondary'} onClick={() => setOpen(true)}>
        New schema
      </Button>
      <FormDialog title="New entity schema" open={isOpen} onClose={() => setOpen(false)}>
        <NameForm
          verb="Create"
          hint="Such as horse. Its attributes come next."
          pending={create.isPending}
          error={create.error}
          onCancel={() => setOpen(false)}
          onSubmit={(values) =>
            create.mutate(values, {
              onSuccess: ({ name }) =>
                void navigate({
                  to: '/worlds/$world/schemas/$schema',
                  params: { world, schema: name },
                  ignoreBlocker: true,
                }),
            })
          }
        />
      </FormDialog>
    </>
  );
}
