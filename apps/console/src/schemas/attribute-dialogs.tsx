import { useState } from 'react';
import type { Attribute } from '../api/records.js';
import { useChange } from '../api/use-change.js';
import { worldKey } from '../api/worlds.js';
import { Button } from '../ui/button.js';
import { Confirm } from '../ui/confirm.js';
import { FormDialog } from '../ui/form-dialog.js';
import { type bodyOf, draftOf, EMPTY } from './attribute-draft.js';
import { AttributeForm } from './attribute-form.js';

export interface SchemaRef {
  readonly world: string;
  readonly schema: string;
}

type Body = ReturnType<typeof bodyOf>;

const keyOf = ({ world }: SchemaRef) => [[...worldKey(world), 'schemas']];
const ATTRIBUTES = '/api/worlds/{worldAddress}/entity-schemas/{schemaName}/attributes';

export function NewAttribute(ref: SchemaRef) {
  const [isOpen, setOpen] = useState(false);
  const create = useChange(
    (orrery, body: Body) =>
      orrery.post(ATTRIBUTES, { path: { worldAddress: ref.world, schemaName: ref.schema }, body }),
    keyOf(ref),
  );
  const close = () => {
    setOpen(false);
    create.reset();
  };
  return (
    <>
      <Button look="primary" onClick={() => setOpen(true)}>
        New attribute
      </Button>
      <FormDialog wide title={`New attribute of ${ref.schema}`} open={isOpen} onClose={close}>
        <AttributeForm
          initial={EMPTY}
          verb="Create"
          pending={create.isPending}
          error={create.error}
          onSubmit={(body) => create.mutate(body, { onSuccess: close })}
          onCancel={close}
        />
      </FormDialog>
    </>
  );
}

export function AttributeActions({ attribute, ...ref }: SchemaRef & { attribute: Attribute }) {
  const [isOpen, setOpen] = useState(false);
  const path = { worldAddress: ref.world, schemaName: ref.schema, name: attribute.name };
  const save = useChange(
    (orrery, body: Body) => orrery.put(`${ATTRIBUTES}/{name}`, { path, body }),
    keyOf(ref),
  );
  const remove = useChange((orrery) => orrery.delete(`${ATTRIBUTES}/{name}`, { path }), keyOf(ref));
  const close = () => {
    setOpen(false);
    save.reset();
  };
  return (
    <span className="flex justify-end gap-1">
      <Button size="small" aria-label={`Edit ${attribute.name}`} onClick={() => setOpen(true)}>
        Edit
      </Button>
      <Confirm
        verb="Delete"
        size="small"
        title={`Delete ${attribute.name}?`}
        onConfirm={() => remove.mutateAsync(undefined)}
      >
        Stored states keep their values; nothing checks them any more.
      </Confirm>
      <FormDialog wide title={`Attribute ${attribute.name}`} open={isOpen} onClose={close}>
        <AttributeForm
          initial={draftOf(attribute)}
          verb="Save"
          pending={save.isPending}
          error={save.error}
          onSubmit={(body) => save.mutate(body, { onSuccess: close })}
          onCancel={close}
        />
      </FormDialog>
    </span>
  );
}
