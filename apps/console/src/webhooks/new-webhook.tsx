import { useChange } from '../api/change.js';
import { deploymentPath, useBindings, useDeploymentRef, WEBHOOKS } from '../api/deployments.js';
import { keyOf } from '../api/read.js';
import { CheckList, type Option, SelectField, TextField } from '../ui/field.js';
import { SaveForm, useDraft } from '../ui/save-form.js';

type Status = 'all' | 'succeeded' | 'failed';

const STATUSES: readonly Option<Status>[] = [
  ['all', 'all executions'],
  ['succeeded', 'those that succeeded'],
  ['failed', 'those that failed'],
];
const LABELS = { '/url': 'Address', '/status': 'Send' };

export interface NewWebhookProps {
  onSecret: (secret: string) => void;
  onClose: () => void;
}

export function NewWebhook({ onSecret, onClose }: NewWebhookProps) {
  const ref = useDeploymentRef();
  const path = deploymentPath(ref);
  const bound = (useBindings(ref).data ?? []).map(({ event }) => event);
  const create = useChange(
    (orrery, { url, status, events }: typeof initial) =>
      orrery.post(WEBHOOKS, {
        path,
        body: {
          url: url.trim(),
          ...(status !== 'all' && { status }),
          ...(events.length > 0 && { events: [...events] }),
        },
      }),
    [keyOf(WEBHOOKS, path)],
    ({ secret }) => {
      onClose();
      onSecret(secret);
    },
  );
  const initial = { url: '', status: 'all' as Status, events: [] as readonly string[] };
  const { draft, change, field, refusal } = useDraft(initial, LABELS, create.error);
  const form = {
    verb: 'Create',
    save: create,
    refusal,
    labels: LABELS,
    onSubmit: () => create.mutate(draft),
    cancel: onClose,
  };
  return (
    <SaveForm {...form} failed="No webhook was made" className="space-y-4">
      <TextField
        {...field('url')}
        required
        hint="It begins with https:// and is reached from the internet."
      />
      <SelectField {...field('status')} options={STATUSES} />
      <CheckList
        legend="Of these events; of all where none is chosen"
        className="space-y-1.5"
        options={bound.map((value) => ({ value, hint: '' }))}
        chosen={draft.events}
        onChange={(next) => change({ events: next })}
      />
    </SaveForm>
  );
}
