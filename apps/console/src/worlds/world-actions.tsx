import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { World } from '../api/records.js';
import { useChange, useRemoval } from '../api/use-change.js';
import { worldKey } from '../api/worlds.js';
import { Button } from '../ui/button.js';
import { Confirm } from '../ui/confirm.js';
import { FormDialog } from '../ui/form-dialog.js';
import { WorldForm, type WorldValues } from './world-form.js';

/** What its owner can do with a world: edit, publish, delete. */
export function WorldActions({ world, page }: { world: World; page: string }) {
  return (
    <>
      <EditWorld world={world} page={page} />
      <PublishWorld world={world} page={page} />
      <DeleteWorld world={world} />
    </>
  );
}

/** The key of what was read may have the id instead of the address. */
const keysOf = (page: string) => [['worlds'], worldKey(page)];

function EditWorld({ world, page }: { world: World; page: string }) {
  const [isOpen, setOpen] = useState(false);
  const save = useChange(
    (orrery, body: WorldValues) =>
      orrery.put('/api/worlds/{idOrAddress}', { path: { idOrAddress: world.address }, body }),
    keysOf(page),
  );
  const close = () => {
    setOpen(false);
    save.reset();
  };
  return (
    <>
      <Button onClick={() => setOpen(true)}>Edit</Button>
      <FormDialog title="Edit the world" open={isOpen} onClose={close}>
        <WorldForm
          world={world}
          verb="Save"
          pending={save.isPending}
          error={save.error}
          onSubmit={(values) => save.mutate(values, { onSuccess: close })}
          onCancel={close}
        />
      </FormDialog>
    </>
  );
}

function PublishWorld({ world: { address, isPublic }, page }: { world: World; page: string }) {
  const change = useChange(
    (orrery) =>
      orrery.post(isPublic ? '/api/worlds/{idOrAddress}/unpublish' : '/api/worlds/{idOrAddress}/publish', {
        path: { idOrAddress: address },
      }),
    keysOf(page),
  );
  return isPublic ? (
    <Confirm
      verb="Unpublish"
      look="secondary"
      title="Unpublish the world?"
      onConfirm={() => change.mutateAsync(undefined)}
    >
      Other accounts can no longer read its definitions. Its deployments go on as they are.
    </Confirm>
  ) : (
    <Confirm
      verb="Publish"
      look="secondary"
      title="Publish the world?"
      onConfirm={() => change.mutateAsync(undefined)}
    >
      Every account of this server can then read its schemas and events, but no prompts and templates.
    </Confirm>
  );
}

function DeleteWorld({ world: { address, name } }: { world: World }) {
  const navigate = useNavigate();
  const remove = useRemoval(
    (orrery) => orrery.delete('/api/worlds/{idOrAddress}', { path: { idOrAddress: address } }),
    () => navigate({ to: '/' }),
    [['worlds']],
  );
  return (
    <Confirm verb="Delete" title={`Delete ${name}?`} onConfirm={remove}>
      Its schemas and events go with it. This cannot be undone. A world with deployments is not deleted.
    </Confirm>
  );
}
